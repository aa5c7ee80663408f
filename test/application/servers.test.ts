import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { allocations, nodes } from '../../src/db/schema.ts'
import { makeApplicationToken, makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let token: string
let node: Awaited<ReturnType<typeof makeNode>>

beforeEach(async () => {
  token = await makeApplicationToken(world)
  node = await makeNode(world, { daemonListen: daemon.port })
})

const path = '/api/application/servers'
const nodeRow = async () => (await world.database.db.select().from(nodes).where(eq(nodes.id, node.id)))[0]

describe('deleting a server', () => {
  it('removes it from the node and frees what it held', async () => {
    const server = await makeServer(world, { node })
    expect((await world.request('DELETE', `${path}/${server.id}`, { token })).status).toBe(204)
    expect(daemon.calls).toMatchObject([{ method: 'DELETE', path: `/api/servers/${server.uuid}` }])
    expect((await world.request('GET', `${path}/${server.id}`, { token })).status).toBe(404)
    expect(await nodeRow()).toMatchObject({ usedMemory: 0, usedDisk: 0 })
    const [row] = await world.database.db
      .select()
      .from(allocations)
      .where(eq(allocations.id, server.allocationId))
    expect(row?.serverId).toBeNull()
  })

  it('does not mind a node that never knew it', async () => {
    const server = await makeServer(world, { node })
    daemon.respond({ status: 404, json: { error: 'unknown' } })
    expect((await world.request('DELETE', `${path}/${server.id}`, { token })).status).toBe(204)
  })

  it('is refused and changes nothing when the node fails', async () => {
    const server = await makeServer(world, { node })
    daemon.respond({ status: 500 })
    expect((await world.request('DELETE', `${path}/${server.id}`, { token })).status).toBe(500)
    expect((await world.request('GET', `${path}/${server.id}`, { token })).status).toBe(200)
  })

  it('by force is done at once; the node is told until it agrees', async () => {
    const server = await makeServer(world, { node })
    daemon.respond({ status: 500 })
    expect((await world.request('DELETE', `${path}/${server.id}/force`, { token })).status).toBe(204)
    expect((await world.request('GET', `${path}/${server.id}`, { token })).status).toBe(404)
    await world.runJobs()
    daemon.respond(null)
    world.clock.advance(60)
    await world.runJobs()
    expect(daemon.calls).toHaveLength(2)
    world.clock.advance(86_400)
    expect(await world.runJobs()).toBe(0)
  })

  it('takes no other last word than force', async () => {
    const server = await makeServer(world, { node })
    expect((await world.request('DELETE', `${path}/${server.id}/now`, { token })).status).toBe(404)
    expect((await world.request('DELETE', `${path}/${server.id}/databases`, { token })).status).toBe(405)
    expect((await world.request('GET', `${path}/${server.id}`, { token })).status).toBe(200)
  })
})

describe('servers', () => {
  it('are listed with every relation in two statements', async () => {
    const server = await makeServer(world, { node, name: 'Zeta', externalId: 'x-1' })
    await makeServer(world, { node, name: 'Alpha' })
    const owner = await makeUser(world)
    await makeSubuser(world, server, owner, ['control.start'])
    const query =
      '?include=allocations,user,subusers.user,nest,egg,location,node,databases,variables,transfer'
    let answer: any
    expect(
      await world.countStatements(
        async () => (answer = await world.request('GET', `${path}${query}`, { token })),
      ),
    ).toBe(2)
    expect(answer.body.data.map((item: any) => item.attributes.name)).toEqual(['Zeta', 'Alpha'])
    const { relationships } = answer.body.data[0].attributes
    expect(Object.keys(relationships).toSorted()).toEqual(
      [
        'allocations',
        'databases',
        'egg',
        'location',
        'nest',
        'node',
        'subusers',
        'user',
        'variables',
      ].toSorted(),
    )
    expect(relationships.subusers.data[0]).toMatchObject({
      object: 'subuser',
      attributes: {
        permissions: ['control.start'],
        relationships: { user: { attributes: { id: owner.id } } },
      },
    })
    expect(relationships.node.attributes).not.toHaveProperty('daemon_token')
  })

  it('are found by filters, search and external id', async () => {
    const server = await makeServer(world, { node, name: 'Zeta 100%', externalId: 'x-1' })
    await makeServer(world, { node, name: 'Alpha' })
    const names = async (query: string) =>
      (await world.request('GET', `${path}?${query}`, { token })).body.data.map(
        (item: any) => item.attributes.name,
      )
    expect(await names('filter[name]=ZETA')).toEqual(['Zeta 100%'])
    expect(await names('filter[name]=100%25')).toEqual(['Zeta 100%'])
    expect(await names('filter[name]=%25')).toEqual(['Zeta 100%'])
    expect(await names(`filter[uuid]=${server.uuid.slice(0, 12)}`)).toEqual(['Zeta 100%'])
    expect(await names('filter[external_id]=x-')).toEqual(['Zeta 100%'])
    expect(await names('filter[name]=alpha,zeta&sort=-id')).toEqual(['Alpha', 'Zeta 100%'])
    expect(await names('search=alph')).toEqual(['Alpha'])
    expect((await world.request('GET', `${path}?search=${'x'.repeat(101)}`, { token })).status).toBe(422)
    expect((await world.request('GET', `${path}/external/x-1`, { token })).body.attributes.id).toBe(server.id)
    expect((await world.request('GET', `${path}/external/x-2`, { token })).status).toBe(404)
  })
})
