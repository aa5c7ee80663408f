import { gt, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, serverFolders, serverPlacements, servers, subusers } from '../../src/db/schema.ts'
import { makeClientToken, makeServer, makeServerFolder, makeSubuser, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const path = '/api/client/account/servers'
let user: Awaited<ReturnType<typeof makeUser>>
let token: string

beforeEach(async () => {
  user = await makeUser(world)
  token = await makeClientToken(world, user)
})

const folders = async (as = token) => {
  const { status, body } = await world.request('GET', `${path}/folders`, { token: as })
  expect(status).toBe(200)
  return body.data.map(({ attributes }: any) => attributes)
}
const create = (name: unknown, as = token) =>
  world.request('POST', `${path}/folders`, { token: as, body: { name } })
const rename = (id: number, name: string, as = token) =>
  world.request('PATCH', `${path}/folders/${id}`, { token: as, body: { name } })
const remove = (id: number, as = token) => world.request('DELETE', `${path}/folders/${id}`, { token: as })
const place = (body: object, as = token) => world.request('PATCH', path, { token: as, body })
const placements = () => world.database.db.select().from(serverPlacements)

describe('folders', () => {
  it('are created, renamed and deleted, and listed by name', async () => {
    const created = await create('  Survival ')
    expect([created.status, created.body]).toEqual([
      200,
      { object: 'server_folder', attributes: { id: expect.any(Number), name: 'Survival', servers: 0 } },
    ])
    await create('creative')
    expect((await folders()).map(({ name }: any) => name)).toEqual(['creative', 'Survival'])
    const { id } = created.body.attributes
    expect((await rename(id, 'Bedrock')).body.attributes).toEqual({ id, name: 'Bedrock', servers: 0 })
    expect((await remove(id)).status).toBe(204)
    expect((await folders()).map(({ name }: any) => name)).toEqual(['creative'])
    expect((await remove(id)).status).toBe(404)
    expect((await rename(id, 'x')).status).toBe(404)
  })

  it('have a name once, whatever its case, and only in one account', async () => {
    const { id } = (await create('Survival')).body.attributes
    const again = await create('survival')
    expect([again.status, again.body.errors[0].meta]).toMatchObject([
      422,
      { source_field: 'name', rule: 'unique' },
    ])
    await create('Other')
    expect((await rename(id, 'OTHER')).status).toBe(422)
    expect((await rename(id, 'SURVIVAL')).status).toBe(200)
    expect((await create('Survival', await makeClientToken(world, await makeUser(world)))).status).toBe(200)
    for (const name of ['', ' ', 'x'.repeat(51), 7, null]) expect((await create(name)).status).toBe(422)
  })

  it('belong to their account alone', async () => {
    const { id } = await makeServerFolder(world, user, { name: 'Mine' })
    const otherUser = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    expect(await folders(otherUser)).toEqual([])
    expect((await rename(id, 'Yours', otherUser)).status).toBe(404)
    expect((await remove(id, otherUser)).status).toBe(404)
    const server = await makeServer(world)
    expect((await place({ servers: [server.uuid], folder: id }, otherUser)).status).toBe(404)
    expect(await folders()).toMatchObject([{ name: 'Mine', servers: 0 }])
  })

  it('are fifty at most, also of requests at once', async () => {
    for (let n = 0; n < 48; n += 1) await makeServerFolder(world, user, { name: `f${n}` })
    const answers = await Promise.all([1, 2, 3, 4].map((n) => create(`new ${n}`)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 400, 400])
    const refused = answers.find(({ status }) => status === 400)
    expect(refused?.body.errors[0].meta).toMatchObject({ reason: 'too_many_folders', values: { max: 50 } })
    expect(await folders()).toHaveLength(50)
  })
})

describe('placing servers', () => {
  it('marks favourites and moves servers, and keeps what is omitted', async () => {
    const [a, b] = [await makeServer(world, { owner: user }), await makeServer(world, { owner: user })]
    const { id } = await makeServerFolder(world, user)
    expect((await place({ servers: [a.uuid, b.uuidShort], favourite: true })).status).toBe(204)
    expect((await place({ servers: [a.uuidShort], folder: id })).status).toBe(204)
    const isFavourite = true
    expect(await placements()).toEqual([
      { userId: user.id, serverId: b.id, isFavourite, folderId: null },
      { userId: user.id, serverId: a.id, isFavourite, folderId: id },
    ])
    expect(await folders()).toMatchObject([{ servers: 1 }])
    await place({ servers: [a.uuid, b.uuid], favourite: false })
    expect(await placements()).toEqual([
      { userId: user.id, serverId: a.id, isFavourite: false, folderId: id },
    ])
    await place({ servers: [a.uuid], folder: null })
    expect(await placements()).toEqual([])
    expect((await place({ servers: [a.uuid] })).status).toBe(204)
    expect(await placements()).toEqual([])
    expect(await world.database.db.select().from(activity)).toEqual([])
  })

  it('keeps favourites when their folder is deleted, and forgets the rest', async () => {
    const [a, b] = [await makeServer(world, { owner: user }), await makeServer(world, { owner: user })]
    const { id } = await makeServerFolder(world, user)
    await place({ servers: [a.uuid, b.uuid], folder: id })
    await place({ servers: [a.uuid], favourite: true })
    expect((await remove(id)).status).toBe(204)
    expect(await placements()).toEqual([
      { userId: user.id, serverId: a.id, isFavourite: true, folderId: null },
    ])
  })

  it('needs access to every server, and counts those with access only', async () => {
    const [own, shared, foreign] = [
      await makeServer(world, { owner: user }),
      await makeServer(world),
      await makeServer(world),
    ]
    await makeSubuser(world, shared, user, [])
    const { id } = await makeServerFolder(world, user)
    expect((await place({ servers: [own.uuid, foreign.uuid], folder: id })).status).toBe(404)
    expect((await place({ servers: [own.uuid, 'nothing'], favourite: true })).status).toBe(404)
    expect(await placements()).toEqual([])
    expect((await place({ servers: [own.uuid, shared.uuid.toUpperCase()], folder: id })).status).toBe(204)
    expect(await folders()).toMatchObject([{ servers: 2 }])
    await world.database.db.delete(subusers)
    expect(await folders()).toMatchObject([{ servers: 1 }])
    expect((await place({ servers: [shared.uuid], favourite: false, folder: null })).status).toBe(404)
    const admin = await makeUser(world, { rootAdmin: true })
    const asAdmin = await makeClientToken(world, admin)
    expect((await place({ servers: [foreign.uuid], favourite: true }, asAdmin)).status).toBe(204)
    await world.database.db.delete(servers)
    expect(await placements()).toEqual([])
  })

  it('refuses what is no list of servers', async () => {
    const { uuid } = await makeServer(world, { owner: user })
    for (const json of [
      {},
      { servers: [] },
      { servers: uuid },
      { servers: Array.from({ length: 101 }, () => uuid), favourite: true },
      { servers: [uuid], favourite: 'perhaps' },
      { servers: [uuid], folder: 'x' },
    ])
      expect((await place(json)).status, JSON.stringify(json)).toBe(422)
    expect((await place({ servers: [uuid], folder: 999 })).status).toBe(404)
    expect(await world.database.db.select().from(serverFolders)).toEqual([])
  })

  it('stops at a thousand servers, of which lost ones make room', async () => {
    const { db } = world.database
    const server = await makeServer(world, { owner: user })
    await copyServer(server, 1000)
    await db.execute(sql`insert into server_placements (user_id, server_id, is_favourite)
      select ${user.id}, id, true from servers where id <> ${server.id}`)
    const full = await place({ servers: [server.uuid], favourite: true })
    expect([full.status, full.body.errors[0].meta.reason]).toEqual([400, 'too_many_placed_servers'])
    expect(await placements()).toHaveLength(1000)
    const other = await makeUser(world)
    await db
      .update(servers)
      .set({ ownerId: other.id })
      .where(gt(servers.id, server.id + 500))
    expect((await place({ servers: [server.uuid], favourite: true })).status).toBe(204)
    expect(await placements()).toHaveLength(501)
  })
})

/** Copies a server, each with an allocation of its own. */
const copyServer = ({ id, nodeId }: { id: number; nodeId: number }, count: number) =>
  world.database.transaction(async (db) => {
    await db.execute(sql`insert into allocations (node_id, ip, port)
      select ${nodeId}, '198.51.100.9', 10000 + n from generate_series(1, ${count}::int) n`)
    await db.execute(sql`insert into servers
      (uuid, uuid_short, node_id, owner_id, egg_id, allocation_id, name, memory, swap, disk, io, cpu, startup, image)
      select copy.uuid, left(copy.uuid::text, 8), node_id, owner_id, egg_id, copy.allocation, name, 1, 0, 1, 500, 1, startup, image
      from servers, (select gen_random_uuid() as uuid, id as allocation from allocations where ip = '198.51.100.9') copy
      where servers.id = ${id}`)
    await db.execute(sql`update allocations set server_id = servers.id from servers
      where allocations.id = servers.allocation_id and allocations.server_id is null`)
  })
