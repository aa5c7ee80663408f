import { eq, inArray } from 'drizzle-orm'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { allocations, jobs, nodes, servers, transfers } from '../../src/db/schema.ts'
import { makeAllocation, makeApplicationToken, makeNode, makeServer } from '../support/factories.ts'
import { startFetchingDaemon } from '../support/fetching-daemon.ts'
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

const limits = { memory: 1024, swap: -1, disk: 2048, io: 400, cpu: 150 }
const build = (changes: object = {}, id = server.id, query = '') =>
  world.request('PATCH', `/api/application/servers/${id}/build${query}`, {
    token,
    body: { allocation: server.allocationId, limits, feature_limits: features, ...changes },
  })
const features = { databases: 1, allocations: 2, backups: 3 }
const rule = (answer: { body: any }) =>
  answer.body.errors.map((error: any) => [error.meta?.source_field, error.meta?.rule])
const rowOf = async (id = server.id) =>
  (await world.database.db.select().from(servers).where(eq(servers.id, id)))[0]
const nodeRow = async (id = node.id) =>
  (await world.database.db.select().from(nodes).where(eq(nodes.id, id)))[0]
const holders = async (...rows: { id: number }[]) => {
  const ids = rows.map(({ id }) => id)
  const found = await world.database.db.select().from(allocations).where(inArray(allocations.id, ids))
  return ids.map((id) => found.find((row) => row.id === id)?.serverId ?? null)
}
/** Has the node's daemon ask the panel before it answers, until the test is over. */
async function standIn(fetch: Parameters<typeof startFetchingDaemon>[0]) {
  const fetching = await startFetchingDaemon(fetch)
  onTestFinished(fetching.close)
  await world.database.db.update(nodes).set({ daemonListen: fetching.port }).where(eq(nodes.id, node.id))
  return fetching
}
const waiting = async () =>
  (await world.database.db.select().from(jobs).where(eq(jobs.state, 'waiting'))).map(({ key }) => key)

describe('limits of a server', () => {
  it('are changed together with the sums of its node, and its daemon is told', async () => {
    const { status, body } = await build({ oom_disabled: false }, server.id, '?include=allocations')
    expect(status).toBe(200)
    expect(body.attributes).toMatchObject({
      limits: { ...limits, threads: null, oom_disabled: false },
      feature_limits: features,
      allocation: server.allocationId,
      relationships: { allocations: { data: [{ attributes: { id: server.allocationId } }] } },
    })
    expect(await nodeRow()).toMatchObject({ usedMemory: 1024, usedDisk: 2048 })
    expect(daemon.calls).toMatchObject([{ method: 'POST', path: `/api/servers/${server.uuid}/sync` }])
    world.clock.advance(3600)
    expect(await world.runJobs()).toBe(0)
  })

  it('may stand at the top, as text too; those in the object win', async () => {
    const flat = { memory: '700', swap: '0', disk: '900', io: '500', cpu: '0', threads: '0-3' }
    const answer = await build({ limits: undefined, ...flat })
    expect(answer.body.attributes.limits).toMatchObject({ memory: 700, disk: 900, threads: '0-3' })
    expect((await build({ limits: [], ...flat })).status).toBe(200)
    expect((await build({ limits: {}, ...flat })).status).toBe(200)
    expect((await build({ ...flat })).body.attributes.limits).toMatchObject(limits)
    expect(await nodeRow()).toMatchObject({ usedMemory: 1024, usedDisk: 2048 })
  })

  it('that are optional stay as they are when left out', async () => {
    await build({ limits: { ...limits, threads: '1,2' }, oom_disabled: '0' })
    await build()
    expect(await rowOf()).toMatchObject({ threads: '1,2', oomDisabled: false })
    await build({ limits: { ...limits, threads: null } })
    expect((await rowOf())?.threads).toBeNull()
  })

  it('of features are none where null is sent, or allocations left out; backups are none at all', async () => {
    const { body } = await build({ feature_limits: { databases: null, backups: null } })
    expect(body.attributes.feature_limits).toEqual({ databases: null, allocations: null, backups: 0 })
  })

  it('are all needed, within their bounds', async () => {
    const before = await rowOf()
    expect(rule(await build({ limits: undefined }))).toEqual(
      ['memory', 'swap', 'disk', 'io', 'cpu'].map((name) => [name, 'required']),
    )
    expect(rule(await build({ limits: { memory: 1 } }))).toEqual(
      ['swap', 'disk', 'io', 'cpu'].map((name) => [`limits.${name}`, 'required']),
    )
    const odd = { memory: -1, swap: -2, disk: 'all', io: 1001, cpu: 0.5, threads: '0;1' }
    expect(rule(await build({ limits: odd }))).toEqual([
      ['limits.memory', 'min'],
      ['limits.swap', 'min'],
      ['limits.disk', 'integer'],
      ['limits.io', 'between'],
      ['limits.cpu', 'integer'],
      ['limits.threads', 'regex'],
    ])
    expect(rule(await build({ feature_limits: undefined }))).toEqual([['feature_limits', 'required']])
    expect(rule(await build({ feature_limits: { allocations: 1 } }))).toEqual([
      ['feature_limits.databases', 'present'],
      ['feature_limits.backups', 'present'],
    ])
    expect(rule(await build({ allocation: undefined }))).toEqual([['allocation', 'required']])
    expect(await rowOf()).toEqual(before)
    expect(daemon.calls).toEqual([])
    expect((await build({}, 999_999)).status).toBe(404)
  })

  it('count on both nodes while the server is being moved', async () => {
    const target = await makeNode(world, { usedMemory: server.memory, usedDisk: server.disk })
    const places = { oldAllocationId: server.allocationId, newAllocationId: server.allocationId }
    await world.database.db
      .insert(transfers)
      .values({ serverId: server.id, oldNodeId: node.id, newNodeId: target.id, ...places })
    await build()
    for (const id of [node.id, target.id]) {
      expect(await nodeRow(id)).toMatchObject({ usedMemory: 1024, usedDisk: 2048 })
    }
  })

  it('keep the sums exact, however many change at once', async () => {
    const all = [server, await makeServer(world, { node }), await makeServer(world, { node })]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const { id, allocationId } = all[n % 3] ?? server
        return build({ allocation: allocationId, limits: { ...limits, memory: 100 + n, disk: 5000 - n } }, id)
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
    const rows = await world.database.db.select().from(servers)
    const sum = (name: 'memory' | 'disk') => rows.reduce((total, row) => total + row[name], 0)
    expect(await nodeRow()).toMatchObject({ usedMemory: sum('memory'), usedDisk: sum('disk') })
    expect(await waiting()).toEqual([])
  })
})

describe('allocations of a server', () => {
  it('come from the free ones of its node; others are passed over', async () => {
    const noted = await makeAllocation(world, node, { notes: 'of the one before' })
    const second = await makeAllocation(world, node)
    const elsewhere = await makeAllocation(world, await makeNode(world))
    const other = await makeServer(world, { node })
    const ids = [second.id, elsewhere.id, other.allocationId, 999_999, noted.id, server.allocationId]
    expect((await build({ add_allocations: ids })).status).toBe(200)
    expect(await holders(noted, second, elsewhere, { id: other.allocationId })).toEqual([
      server.id,
      server.id,
      null,
      other.id,
    ])
    const [row] = await world.database.db.select().from(allocations).where(eq(allocations.id, noted.id))
    expect(row?.notes).toBeNull()
  })

  it('go when they are removed, but not those of others, nor those that are added as well', async () => {
    const [one, two] = [
      await makeAllocation(world, node, { serverId: server.id, notes: 'mine' }),
      await makeAllocation(world, node, { serverId: server.id, notes: 'kept' }),
    ]
    const other = await makeServer(world, { node })
    await build({ add_allocations: [two.id], remove_allocations: [one.id, two.id, other.allocationId] })
    expect(await holders(one, two, { id: other.allocationId })).toEqual([null, server.id, other.id])
    const rows = await world.database.db
      .select()
      .from(allocations)
      .where(inArray(allocations.id, [one.id, two.id]))
      .orderBy(allocations.id)
    expect(rows.map(({ notes }) => notes)).toEqual([null, 'kept'])
  })

  it('may take over as the primary one, also in the call that adds them', async () => {
    const added = await makeAllocation(world, node)
    const old = { id: server.allocationId }
    const { body } = await build({
      allocation: added.id,
      add_allocations: [added.id],
      remove_allocations: [old.id],
    })
    expect(body.attributes.allocation).toBe(added.id)
    expect(await holders(added, old)).toEqual([server.id, null])
  })

  it('replace the primary one that is removed, by the first that was added', async () => {
    const [first, second] = [await makeAllocation(world, node), await makeAllocation(world, node)]
    const old = { id: server.allocationId }
    const { status, body } = await build({
      add_allocations: [first.id, second.id],
      remove_allocations: [old.id],
    })
    expect([status, body.attributes.allocation]).toEqual([200, first.id])
    expect(await holders(old, first, second)).toEqual([null, server.id, server.id])
  })

  it('are never none: the last one stays', async () => {
    const own = await makeAllocation(world, node, { serverId: server.id })
    const taken = await makeServer(world, { node })
    const answer = await build({
      add_allocations: [taken.allocationId],
      remove_allocations: [server.allocationId],
    })
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ code: 'DisplayException' }] } })
    expect(await holders(own, { id: server.allocationId })).toEqual([server.id, server.id])
    expect((await rowOf())?.memory).toBe(server.memory)
  })

  it('have a primary one that exists, of no other server, and among them', async () => {
    const other = await makeServer(world, { node })
    const foreign = await makeAllocation(world, node, { serverId: other.id })
    const free = await makeAllocation(world, node)
    expect(rule(await build({ allocation: 999_999 }))).toEqual([['allocation', 'exists']])
    expect(rule(await build({ allocation: other.allocationId }))).toEqual([['allocation', 'unique']])
    for (const { id } of [foreign, free]) {
      const { status, body } = await build({ allocation: id })
      expect([status, body.errors[0].code]).toEqual([400, 'DisplayException'])
    }
    expect((await rowOf())?.allocationId).toBe(server.allocationId)
  })

  it('go to one of two servers that want the same, which the answers tell', async () => {
    const wanted = await makeAllocation(world, node)
    const rivals = [server, await makeServer(world, { node })]
    const answers = await Promise.all(
      rivals.map(({ id }) => build({ allocation: wanted.id, add_allocations: [wanted.id] }, id)),
    )
    const winners = rivals.filter((_, at) => answers[at]?.status === 200)
    expect(winners).toHaveLength(1)
    expect(answers.map(({ status }) => status).find((status) => status !== 200)).toBeOneOf([400, 422])
    expect(await holders(wanted)).toEqual([winners[0]?.id])
  })
})

describe('the daemon of a server whose build changes', () => {
  const fetchAs = (uuid: string) => world.request('GET', `/api/remote/servers/${uuid}`, { token: node.token })

  it('fetches what is committed while it is being told', async () => {
    const fetching = await standIn(fetchAs)
    expect((await build()).status).toBe(200)
    expect(fetching.fetched[0]?.body.settings.build).toMatchObject({ memory_limit: 1024, cpu_limit: 150 })
    expect(await waiting()).toEqual([])
  })

  it.each([
    ['fails', { status: 500 }],
    ['hangs', { hang: true } as const],
    ['does not know the panel', { status: 403 }],
    ['does not know the server', { status: 404 }],
  ])('is told later when it %s', async (_name, answer) => {
    if ('hang' in answer) Object.assign(world.services.config, { daemonTimeoutMs: 200 })
    daemon.respond(answer)
    const { status, body } = await build()
    expect([status, body.attributes.limits.memory]).toEqual([200, 1024])
    expect(await waiting()).toEqual([`sync-server:${server.id}`])
    daemon.respond(null)
    Object.assign(world.services.config, { daemonTimeoutMs: undefined })
    world.clock.advance(20)
    expect(await world.runJobs()).toBe(1)
    expect(daemon.calls).toHaveLength(2)
    world.clock.advance(86_400)
    expect(await world.runJobs()).toBe(0)
  })

  it('is told once for many changes that it missed, and may be told again', async () => {
    await world.database.db.update(nodes).set({ daemonListen: 1 })
    for (const memory of [100, 200, 300]) expect((await build({ ...limits, memory })).status).toBe(200)
    expect(await waiting()).toEqual([`sync-server:${server.id}`])
    await world.database.db.update(nodes).set({ daemonListen: daemon.port })
    for (let delivery = 0; delivery < 2; delivery += 1) {
      await world.database.db.update(jobs).set({ state: 'waiting', leasedUntil: null, finishedAt: null })
      world.clock.advance(20)
      expect(await world.runJobs()).toBe(1)
    }
    expect(daemon.calls).toHaveLength(2)
    expect(await nodeRow()).toMatchObject({ usedMemory: 1024 })
  })

  it('is told by the job of a change that came while it was being told of another', async () => {
    await standIn(async (uuid) => {
      const answer = await fetchAs(uuid)
      // What a second request leaves that dies between its commit and its call.
      await world.database.db.update(servers).set({ name: 'Renamed' })
      return answer
    })
    expect((await build()).status).toBe(200)
    expect(await waiting()).toEqual([`sync-server:${server.id}`])
  })
})
