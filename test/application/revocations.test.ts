import { beforeEach, describe, expect, it } from 'vitest'
import type { User } from '../../src/db/tables/users.ts'
import { websocketTokenId } from '../../src/domain/servers/websocket-tokens.ts'
import {
  changeOf,
  makeApplicationToken,
  makeNode,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const change = (user: User, changes: object) =>
  world.request('PATCH', `/api/application/users/${user.id}`, { token, body: changeOf(user, changes) })
const daemonCalls = () => daemon.calls.map(({ method, path, body }) => [`${method} ${path}`, body])

describe('the credentials of a user on daemons', () => {
  it('are revoked on every server when a user is no longer an administrator, before the response', async () => {
    const admin = await makeUser(world, { rootAdmin: true })
    const node = await makeNode(world, { daemonListen: daemon.port })
    const servers = [await makeServer(world, { node }), await makeServer(world, { node })]
    const { status, body } = await change(admin, { root_admin: false })
    expect([status, body.meta.revocation_errors]).toEqual([200, []])
    const uuids = servers.map(({ uuid }) => uuid)
    expect(daemonCalls()).toEqual([['POST /api/deauthorize-user', { user: admin.uuid, servers: uuids }]])
    world.clock.advance(3600)
    expect(await world.runJobs()).toBe(0)
  })

  it('are reported when a node is unreachable, and revoked when the node is back', async () => {
    const admin = await makeUser(world, { rootAdmin: true })
    const node = await makeNode(world, { daemonListen: daemon.port })
    await makeServer(world, { node })
    daemon.respond({ status: 500, json: { error: 'broken' } })
    const { status, body } = await change(admin, { root_admin: false })
    expect(status).toBe(200)
    expect(body.meta.revocation_errors).toEqual([expect.stringContaining(`Node ${node.id}`)])
    daemon.respond(null)
    daemon.calls.length = 0
    world.clock.advance(60)
    await world.runJobs()
    expect(daemonCalls()).toMatchObject([['POST /api/deauthorize-user', { user: admin.uuid }]])
    expect(await world.runJobs()).toBe(0)
  })

  it('are revoked by token ids on daemons without another way', async () => {
    const admin = await makeUser(world, { rootAdmin: true })
    const node = await makeNode(world, { daemonListen: daemon.port })
    const server = await makeServer(world, { node })
    daemon.respond(({ path }) =>
      path === '/api/deauthorize-user' ? { status: 404, json: { error: 'no route' } } : null,
    )
    expect((await change(admin, { root_admin: false })).body.meta.revocation_errors).toEqual([])
    expect(daemonCalls().at(-1)).toEqual([
      `POST /api/servers/${server.uuid}/ws/deny`,
      { jtis: [websocketTokenId(admin, server)] },
    ])
  })

  it('are revoked on owned and shared servers when the password is changed', async () => {
    const user = await makeUser(world)
    const node = await makeNode(world, { daemonListen: daemon.port })
    const own = await makeServer(world, { node, owner: user })
    const other = await makeServer(world, { node })
    await makeServer(world, { node })
    await makeSubuser(world, other, user, ['websocket.connect'])
    expect((await change(user, { password: 'another password' })).status).toBe(200)
    await world.runJobs()
    const servers = [own.uuid, other.uuid]
    expect(daemonCalls()).toEqual([['POST /api/deauthorize-user', { user: user.uuid, servers }]])
  })

  it('are revoked when the account is deleted', async () => {
    const user = await makeUser(world)
    const node = await makeNode(world, { daemonListen: daemon.port })
    const server = await makeServer(world, { node })
    await makeSubuser(world, server, user, ['websocket.connect'])
    expect((await world.request('DELETE', `/api/application/users/${user.id}`, { token })).status).toBe(204)
    await world.runJobs()
    expect(daemonCalls()).toEqual([
      ['POST /api/deauthorize-user', { user: user.uuid, servers: [server.uuid] }],
    ])
  })

  it('are kept when no access was removed', async () => {
    const user = await makeUser(world)
    await makeServer(world, { owner: user, node: await makeNode(world, { daemonListen: daemon.port }) })
    await change(user, { first_name: 'Other' })
    await world.runJobs()
    expect(daemonCalls()).toEqual([])
  })
})
