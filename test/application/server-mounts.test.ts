import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, eggMount, jobs, mountNode, mountServer, servers, transfers } from '../../src/db/schema.ts'
import type { Acl } from '../../src/db/tables/api-keys.ts'
import {
  makeAllocation,
  makeApplicationToken,
  makeEgg,
  makeKey,
  makeMount,
  makeNode,
  makeRoleHolder,
  makeServer,
} from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let token: string
let node: Awaited<ReturnType<typeof makeNode>>
let server: Awaited<ReturnType<typeof makeServer>>

beforeEach(async () => {
  token = await makeApplicationToken(world)
  node = await makeNode(world, { daemonListen: daemon.port })
  server = await makeServer(world, { node })
})

const path = () => `/api/application/servers/${server.id}/mounts`
const add = (mount: unknown, as = token) => world.request('POST', path(), { token: as, body: { mount } })
const remove = (mount: number, as = token) => world.request('DELETE', `${path()}/${mount}`, { token: as })
const rules = (answer: { body: any }) =>
  answer.body.errors.map(({ meta }: any) => `${meta.source_field}: ${meta.rule}`)
const allowed = () => ({ eggs: [server.eggId], nodes: [node.id] })
/** The mounts that a node gets for the server. */
const configured = async (of = node) => {
  const { body } = await world.request('GET', `/api/remote/servers/${server.uuid}`, { token: of.token })
  return body.settings.mounts
}
const tokenWith = async (acl: Acl) => {
  const holder = await makeRoleHolder(world, acl)
  return (await makeKey(world, holder, { type: 'application', acl })).token
}

describe('a mount of a server', () => {
  it('is in the configuration that the daemon fetches at once, and in that of all servers', async () => {
    const mount = await makeMount(world, allowed(), { source: '/mnt/maps', target: '/maps' })
    expect(await configured()).toEqual([])
    expect((await add(mount.id)).status).toBe(204)
    expect(daemon.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `POST /api/servers/${server.uuid}/sync`,
    ])
    const expected = [{ source: '/mnt/maps', target: '/maps', read_only: true }]
    expect(await configured()).toEqual(expected)
    const { body } = await world.request('GET', '/api/remote/servers', { token: node.token })
    expect(body.data[0].settings.mounts).toEqual(expected)
    expect((await remove(mount.id)).status).toBe(204)
    expect(await configured()).toEqual([])
    expect(daemon.calls).toHaveLength(2)
  })

  it('is left to a job when the daemon does not answer', async () => {
    daemon.respond({ status: 500 })
    const mount = await makeMount(world, allowed())
    expect((await add(mount.id)).status).toBe(204)
    expect(await world.database.db.select().from(jobs)).toMatchObject([
      { name: 'sync-server', state: 'waiting', key: `sync-server:${server.id}` },
    ])
  })

  it('is recorded once, as admin:server.mount and admin:server.unmount', async () => {
    const mount = await makeMount(world, allowed(), { name: 'Maps' })
    for (const at of [1, 2]) expect((await add(mount.id)).status, `${at}`).toBe(204)
    await remove(mount.id)
    expect((await remove(mount.id)).status).toBe(404)
    const entries = await world.database.db.select().from(activity).orderBy(activity.id)
    expect(entries.map(({ event, properties }) => [event, properties])).toEqual([
      ['admin:server.mount', { name: server.name, mount: 'Maps' }],
      ['admin:server.unmount', { name: server.name, mount: 'Maps' }],
    ])
  })

  it('needs an egg and a node that allow it, and a free target', async () => {
    const { eggs, nodes } = allowed()
    expect(rules(await add((await makeMount(world, { nodes })).id))).toEqual(['mount: in'])
    expect(rules(await add((await makeMount(world, { eggs })).id))).toEqual(['mount: in'])
    expect(rules(await add(99))).toEqual(['mount: exists'])
    await add((await makeMount(world, allowed(), { target: '/maps' })).id)
    const second = await makeMount(world, allowed(), { target: '/maps' })
    expect(rules(await add(second.id))).toEqual(['mount: unique'])
    expect(await world.database.db.select().from(mountServer)).toHaveLength(1)
  })

  it('is not had twice at one target by parallel requests', async () => {
    const twins = [
      await makeMount(world, allowed(), { target: '/maps' }),
      await makeMount(world, allowed(), { target: '/maps' }),
    ]
    const answers = await Promise.all(twins.map(({ id }) => add(id)))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([204, 422])
  })

  it('is taken under its name in other panels', async () => {
    const mount = await makeMount(world, allowed())
    const body = { mount_id: String(mount.id) }
    expect((await world.request('POST', path(), { token, body })).status).toBe(204)
  })

  it('needs write access to servers and read access to mounts', async () => {
    const mount = await makeMount(world, allowed())
    for (const acl of [{ servers: 1, mounts: 3 }, { servers: 3 }] as Acl[]) {
      const as = await tokenWith(acl)
      expect([(await add(mount.id, as)).status, (await remove(mount.id, as)).status]).toEqual([403, 403])
    }
    const as = await tokenWith({ servers: 3, mounts: 1 })
    expect([(await add(mount.id, as)).status, (await remove(mount.id, as)).status]).toEqual([204, 204])
  })

  it('has no effect while the egg or the node does not allow it', async () => {
    const { db } = world.database
    const mount = await makeMount(world, { ...allowed(), servers: [server.id] })
    expect(await configured()).toHaveLength(1)
    const egg = await makeEgg(world)
    await db.update(servers).set({ eggId: egg.id }).where(eq(servers.id, server.id))
    expect(await configured()).toEqual([])
    await db.insert(eggMount).values({ eggId: egg.id, mountId: mount.id })
    expect(await configured()).toHaveLength(1)
    await db.delete(mountNode)
    expect(await configured()).toEqual([])
  })

  it('is given to the nodes of a transfer as each of them allows it', async () => {
    const target = await makeNode(world)
    await makeMount(world, { ...allowed(), servers: [server.id] }, { target: '/old' })
    const moved = { eggs: [server.eggId], nodes: [target.id], servers: [server.id] }
    await makeMount(world, moved, { target: '/new' })
    await world.database.db.insert(transfers).values({
      serverId: server.id,
      oldNodeId: node.id,
      newNodeId: target.id,
      oldAllocationId: server.allocationId,
      newAllocationId: (await makeAllocation(world, target, { serverId: server.id })).id,
    })
    expect(await configured()).toMatchObject([{ target: '/old' }])
    expect(await configured(target)).toMatchObject([{ target: '/new' }])
  })

  it('is allowed in the configuration of its nodes alone', async () => {
    await makeMount(world, allowed(), { source: '/mnt/b', target: '/one' })
    await makeMount(world, allowed(), { source: '/mnt/b', target: '/two' })
    await makeMount(world, allowed(), { source: '/mnt/a' })
    await makeMount(world, {}, { source: '/mnt/c' })
    const other = await makeNode(world)
    const mountsOf = async ({ id }: { id: number }) =>
      (await world.request('GET', `/api/application/nodes/${id}/configuration`, { token })).body
        .allowed_mounts
    expect(await mountsOf(node)).toEqual(['/mnt/a', '/mnt/b'])
    expect(await mountsOf(other)).toEqual([])
  })
})
