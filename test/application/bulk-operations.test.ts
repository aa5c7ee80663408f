import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, apiKeys, roles, servers, users } from '../../src/db/schema.ts'
import {
  fullAcl,
  makeAllocation,
  makeApplicationToken,
  makeKey,
  makeNode,
  makeRole,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let role: Awaited<ReturnType<typeof makeRole>>
let admin: Awaited<ReturnType<typeof makeUser>>
let keyId: number | undefined
let token: string
let node: Awaited<ReturnType<typeof makeNode>>

beforeEach(async () => {
  role = await makeRole(world, { servers: 3 })
  admin = await makeUser(world, { roleId: role.id })
  token = (await makeKey(world, admin, { type: 'application', acl: fullAcl })).token
  keyId = (await world.database.db.select().from(apiKeys).where(ofAdmin(apiKeys.userId)))[0]?.id
  node = await makeNode(world, { daemonListen: daemon.port })
})

const ofAdmin = (column: typeof users.id | typeof apiKeys.userId) => eq(column, admin.id)
const makeServers = async (count: number, values: object = {}) => {
  const made = []
  for (let at = 0; at < count; at += 1) made.push(await makeServer(world, { node, ...values }))
  return made
}
const idsOf = (rows: { id: number }[]) => rows.map(({ id }) => id)
const start = (body: object, options: object = { token }) =>
  world.request('POST', '/api/application/servers/bulk', { ...options, body })
const show = (id: number) => world.request('GET', `/api/application/bulk-operations/${id}`, { token })
const finish = async () => {
  while ((await world.runJobs()) > 0);
}
/** Starts an operation, runs its job to the end, and returns what it shows then, to an administrator who may. */
async function perform(body: object) {
  const started = await start(body)
  expect(started.status).toBe(202)
  await finish()
  const reader = await makeApplicationToken(world)
  const path = `/api/application/bulk-operations/${started.body.attributes.id}`
  return (await world.request('GET', path, { token: reader })).body.attributes
}
const outcomes = (attributes: any) =>
  attributes.items.map((item: any) => [item.server_id, item.error?.status ?? item.state])
const signals = () => daemon.calls.map(({ path, body }) => [path.split('/')[3], body?.action])
const firstProblem = (answer: { body: any }) => [
  answer.body.errors[0].meta.source_field,
  answer.body.errors[0].meta.rule,
]

describe('an action on many servers', () => {
  it('is accepted at once and shows each server before and after', async () => {
    const [one, other] = await makeServers(2)
    const { status, body } = await start({
      action: 'power',
      signal: 'restart',
      servers: [one!.id, other!.id],
    })
    expect(status).toBe(202)
    expect(daemon.calls).toEqual([])
    const { id } = body.attributes
    const item = { state: 'pending', error: null, finished_at: null }
    expect(body).toMatchObject({
      object: 'bulk_operation',
      attributes: {
        action: 'power',
        signal: 'restart',
        node_id: null,
        force: null,
        user_id: admin.id,
        totals: { pending: 2, running: 0, done: 0, failed: 0 },
        items: [
          { server_id: one!.id, name: one!.name, ...item },
          { server_id: other!.id, name: other!.name, ...item },
        ],
        finished_at: null,
      },
    })
    await finish()
    const after = (await show(id)).body.attributes
    expect(after.totals).toEqual({ pending: 0, running: 0, done: 2, failed: 0 })
    expect(after.finished_at).not.toBeNull()
    expect(signals()).toHaveLength(2)
    expect(signals()).toEqual(
      expect.arrayContaining([
        [one!.uuid, 'restart'],
        [other!.uuid, 'restart'],
      ]),
    )
  })

  it('fails for single servers with the cause that their own route would give, and goes on', async () => {
    const dead = await makeNode(world, { daemonListen: 1 })
    const [good] = await makeServers(1)
    const [suspended] = await makeServers(1, { status: 'suspended' })
    const unreachable = await makeServer(world, { node: dead })
    const [last] = await makeServers(1)
    const ids = [...idsOf([good!, suspended!, unreachable, last!]), 999_999]
    const attributes = await perform({ action: 'power', signal: 'start', servers: ids })
    expect(outcomes(attributes)).toEqual([
      [good!.id, 'done'],
      [suspended!.id, 409],
      [unreachable.id, 504],
      [last!.id, 'done'],
      [999_999, 404],
    ])
    expect(attributes.totals).toEqual({ pending: 0, running: 0, done: 2, failed: 3 })
    expect(attributes.items[1].error).toEqual({
      status: 409,
      code: 'ServerStateConflictException',
      detail: 'The server is suspended.',
      meta: { reason: 'server_suspended' },
    })
    expect(attributes.items[4].name).toBeNull()
  })

  it('records who asked, with the key, for the operation and for each server', async () => {
    const [server] = await makeServers(1)
    await perform({ action: 'suspend', servers: [server!.id, 999_999] })
    const entries = await world.database.db.select().from(activity).orderBy(activity.id)
    expect(entries.map((entry) => [entry.event, entry.actorId, entry.apiKeyId, entry.ip])).toEqual(
      ['admin:bulk.start', 'admin:server.suspend'].map((event) => [event, admin.id, keyId, '192.0.2.1']),
    )
    expect(entries[0]?.properties).toEqual({ action: 'suspend', servers: 2 })
  })

  it('suspends and ends suspensions', async () => {
    const ids = idsOf(await makeServers(3))
    const statuses = async () => (await world.database.db.select().from(servers)).map(({ status }) => status)
    await perform({ action: 'suspend', servers: ids })
    expect(await statuses()).toEqual(['suspended', 'suspended', 'suspended'])
    await perform({ action: 'unsuspend', servers: ids })
    expect(await statuses()).toEqual([null, null, null])
  })

  it('reinstalls', async () => {
    const [server] = await makeServers(1)
    const attributes = await perform({ action: 'reinstall', servers: [server!.id] })
    expect(attributes.totals.done).toBe(1)
    expect(daemon.calls.map(({ path }) => path)).toEqual([`/api/servers/${server!.uuid}/reinstall`])
  })

  it('transfers each server to free allocations of the node while there are some', async () => {
    const target = await makeNode(world)
    const free = [await makeAllocation(world, target), await makeAllocation(world, target)]
    const ids = idsOf(await makeServers(3))
    const attributes = await perform({ action: 'transfer', node: target.id, servers: ids })
    expect(outcomes(attributes)).toEqual([
      [ids[0], 'done'],
      [ids[1], 'done'],
      [ids[2], 400],
    ])
    expect(attributes.items[2].error.code).toBe('NoViableAllocationException')
    const moves = await Promise.all(
      ids.slice(0, 2).map((id) =>
        world.request('GET', `/api/application/servers/${id}/transfer`, {
          token,
        }),
      ),
    )
    expect(new Set(moves.map(({ body }) => body.attributes.new_allocation))).toEqual(new Set(idsOf(free)))
  })

  it('deletes servers, on a dead node by force alone', async () => {
    const dead = await makeNode(world, { daemonListen: 1 })
    const [good] = await makeServers(1)
    const unreachable = await makeServer(world, { node: dead })
    const ids = [good!.id, unreachable.id]
    const attributes = await perform({ action: 'delete', servers: ids })
    expect(outcomes(attributes)).toEqual([
      [good!.id, 'done'],
      [unreachable.id, 504],
    ])
    await start({ action: 'delete', force: true, servers: [unreachable.id] })
    await world.runJobs()
    expect(await world.database.db.select().from(servers)).toEqual([])
  })

  it('goes on in further runs of the job when there are many', async () => {
    const ids = idsOf(await makeServers(60))
    const { body } = await start({ action: 'power', signal: 'stop', servers: ids })
    await world.runJobs()
    expect((await show(body.attributes.id)).body.attributes.totals).toMatchObject({ pending: 10, done: 50 })
    await finish()
    expect((await show(body.attributes.id)).body.attributes.totals).toMatchObject({ pending: 0, done: 60 })
    expect(new Set(signals().map(([uuid]) => uuid)).size).toBe(60)
    expect(daemon.calls).toHaveLength(60)
  })

  it('counts a server once that is named twice', async () => {
    const [server] = await makeServers(1)
    const attributes = await perform({ action: 'power', signal: 'kill', servers: [server!.id, server!.id] })
    expect(attributes.items).toHaveLength(1)
    expect(daemon.calls).toHaveLength(1)
  })

  it('is refused without what the action needs, without servers, and with too many', async () => {
    const [server] = await makeServers(1)
    const ids = [server!.id]
    expect(firstProblem(await start({ action: 'power', servers: ids }))).toEqual(['signal', 'required'])
    expect(firstProblem(await start({ action: 'transfer', servers: ids }))).toEqual(['node', 'required'])
    expect(firstProblem(await start({ action: 'transfer', node: 999_999, servers: ids }))).toEqual([
      'node',
      'exists',
    ])
    expect(firstProblem(await start({ action: 'dance', servers: ids }))[0]).toBe('action')
    expect(firstProblem(await start({ action: 'suspend', servers: [] }))[0]).toBe('servers')
    const tooMany = Array.from({ length: 501 }, (_, at) => at + 1)
    expect(firstProblem(await start({ action: 'suspend', servers: tooMany }))).toEqual(['servers', 'max'])
    expect(await world.runJobs()).toBe(0)
    expect((await show(1)).status).toBe(404)
  })

  it('needs write access to servers; its progress read access', async () => {
    const [server] = await makeServers(1)
    const input = { action: 'suspend', servers: [server!.id] }
    const reader = { token: await makeApplicationToken(world, { servers: 1 }) }
    const other = { token: await makeApplicationToken(world, { nodes: 3 }) }
    const { id } = (await start(input)).body.attributes
    const path = `/api/application/bulk-operations/${id}`
    expect((await start(input, reader)).status).toBe(403)
    expect((await start(input, other)).status).toBe(403)
    expect((await world.request('GET', path, reader)).status).toBe(200)
    expect((await world.request('GET', path, other)).status).toBe(403)
  })
})

describe('cancelling an action on many servers', () => {
  const cancel = (id: number, options: object = { token }) =>
    world.request('DELETE', `/api/application/bulk-operations/${id}`, options)

  it('leaves alone what has not begun, and keeps what was done', async () => {
    const ids = idsOf(await makeServers(60))
    const { id } = (await start({ action: 'power', signal: 'stop', servers: ids })).body.attributes
    await world.runJobs()
    expect((await cancel(id)).status).toBe(204)
    await finish()
    const after = (await show(id)).body.attributes
    expect(after.totals).toEqual({ pending: 0, running: 0, done: 50, failed: 10 })
    expect(after.finished_at).not.toBeNull()
    expect(after.items[59].error).toMatchObject({ status: 409, code: 'BulkOperationCancelledException' })
    expect(daemon.calls).toHaveLength(50)
    const [entry] = await world.database.db
      .select()
      .from(activity)
      .where(eq(activity.event, 'admin:bulk.cancel'))
    expect(entry).toMatchObject({ actorId: admin.id, properties: { action: 'power', servers: 10 } })
  })

  it('lets the server finish that is being worked on', async () => {
    Object.assign(world.services.config, { maxDaemonCalls: 1 })
    try {
      const ids = idsOf(await makeServers(3))
      const { id } = (await start({ action: 'power', signal: 'stop', servers: ids })).body.attributes
      daemon.respond(async () => {
        expect((await cancel(id)).status).toBe(204)
        expect((await show(id)).body.attributes.finished_at).toBeNull()
        return null
      })
      await finish()
      const after = (await show(id)).body.attributes
      expect(outcomes(after)).toEqual([
        [ids[0], 'done'],
        [ids[1], 409],
        [ids[2], 409],
      ])
      expect(after.finished_at).not.toBeNull()
    } finally {
      Object.assign(world.services.config, { maxDaemonCalls: undefined })
    }
  })

  it('is refused when nothing is left, and without write access to servers', async () => {
    const [server] = await makeServers(1)
    const { id } = (await start({ action: 'suspend', servers: [server!.id] })).body.attributes
    const reader = { token: await makeApplicationToken(world, { servers: 1 }) }
    expect((await cancel(id, reader)).status).toBe(403)
    expect((await cancel(id)).status).toBe(204)
    expect((await cancel(id)).status).toBe(409)
    expect((await cancel(999_999)).status).toBe(404)
  })
})

describe('the list of actions on many servers', () => {
  it('has the newest first, with how far each is', async () => {
    const ids = idsOf(await makeServers(2))
    await perform({ action: 'suspend', servers: [...ids, 999_999] })
    await start({ action: 'unsuspend', servers: ids })
    const { status, body } = await world.request('GET', '/api/application/bulk-operations', { token })
    expect(status).toBe(200)
    expect(body.data.map(({ attributes }: any) => [attributes.action, attributes.totals])).toEqual([
      ['unsuspend', { pending: 2, running: 0, done: 0, failed: 0 }],
      ['suspend', { pending: 0, running: 0, done: 2, failed: 1 }],
    ])
    expect(body.data[0].attributes).not.toHaveProperty('items')
    expect(body.meta.pagination.total).toBe(2)
  })

  it('needs read access to servers', async () => {
    const other = { token: await makeApplicationToken(world, { nodes: 3 }) }
    expect((await world.request('GET', '/api/application/bulk-operations', other)).status).toBe(403)
  })
})

describe('AZ-6: a bulk operation whose administrator loses the right', () => {
  const setRole = (acl: object) => world.database.db.update(roles).set({ acl }).where(eq(roles.id, role.id))
  const setKey = (values: Partial<typeof apiKeys.$inferInsert>) =>
    world.database.db.update(apiKeys).set(values).where(ofAdmin(apiKeys.userId))
  const suspendAdmin = () =>
    world.database.db.update(users).set({ signInSuspendedAt: world.clock.now }).where(ofAdmin(users.id))

  it.each([
    ['with the level of the role', 403, () => setRole({ servers: 1 })],
    [
      'with the role',
      403,
      () => world.database.db.update(users).set({ roleId: null }).where(ofAdmin(users.id)),
    ],
    ['with the account', 401, () => world.database.db.delete(users).where(ofAdmin(users.id))],
    ['with the key', 401, () => world.database.db.delete(apiKeys).where(ofAdmin(apiKeys.userId))],
    ['when the key expires', 401, () => setKey({ expiresAt: world.clock.now })],
    ['with the level of the key', 403, () => setKey({ acl: { ...fullAcl, servers: 1 } })],
    ['by a suspension', 403, () => suspendAdmin()],
  ])('%s does nothing more', async (_how, status, revoke) => {
    const ids = idsOf(await makeServers(2))
    const { body } = await start({ action: 'power', signal: 'kill', servers: ids })
    await revoke()
    await finish()
    const reader = await makeApplicationToken(world)
    const path = `/api/application/bulk-operations/${body.attributes.id}`
    const after = (await world.request('GET', path, { token: reader })).body.attributes
    expect(outcomes(after)).toEqual(ids.map((id) => [id, status]))
    expect(after.finished_at).not.toBeNull()
    expect(daemon.calls).toEqual([])
  })

  it('in the middle keeps what was done and fails the rest', async () => {
    Object.assign(world.services.config, { maxDaemonCalls: 1 })
    try {
      const ids = idsOf(await makeServers(3))
      daemon.respond(async () => {
        await setRole({ servers: 1 })
        return null
      })
      const attributes = await perform({ action: 'power', signal: 'stop', servers: ids })
      expect(outcomes(attributes)).toEqual([
        [ids[0], 'done'],
        [ids[1], 403],
        [ids[2], 403],
      ])
      expect(daemon.calls).toHaveLength(1)
    } finally {
      Object.assign(world.services.config, { maxDaemonCalls: undefined })
    }
  })
})
