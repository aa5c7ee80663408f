import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { bulkItems, bulkOperations, jobs, servers } from '../../src/db/schema.ts'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import { prune } from '../../src/domain/jobs/prune.ts'
import { runJob, sweepJobs } from '../../src/domain/jobs/run.ts'
import { crashingPanel, ProcessCrashed, processThatCrashes } from '../support/crashing-panel.ts'
import { makeApplicationToken, makeNode, makeServer } from '../support/factories.ts'
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

/** Starts an action on new servers; returns their rows. */
async function startOn(count: number, action: object) {
  const made = []
  for (let at = 0; at < count; at += 1) made.push(await makeServer(world, { node }))
  const body = { ...action, servers: made.map(({ id }) => id) }
  const { body: started } = await world.request('POST', '/api/application/servers/bulk', { token, body })
  return { id: started.attributes.id as number, made }
}
const itemsOf = (id: number) =>
  world.database.db.select().from(bulkItems).where(eq(bulkItems.operationId, id)).orderBy(bulkItems.serverId)
const operationOf = async (id: number) =>
  (await world.database.db.select().from(bulkOperations).where(eq(bulkOperations.id, id)))[0]
const waitingJob = async () =>
  (await world.database.db.select().from(jobs).where(eq(jobs.name, 'run-bulk-operation')))[0]?.id ?? ''
const finish = async () => {
  while ((await world.runJobs()) > 0);
}
const callsTo = (uuid: string) => daemon.calls.filter(({ path }) => path.includes(uuid)).length
/** Longer than a lease. */
const leaseSeconds = 200

describe('JB-2: the job of a bulk operation', () => {
  it('that is delivered twice at once, and again later, acts once', async () => {
    const { id, made } = await startOn(3, { action: 'power', signal: 'restart' })
    const job = await waitingJob()
    await Promise.all([1, 2, 3].map(() => runJob(world.panel, job, jobHandlers)))
    await world.database.db.update(jobs).set({ state: 'waiting', finishedAt: null, runAt: world.clock.now })
    await finish()
    expect(made.map(({ uuid }) => callsTo(uuid))).toEqual([1, 1, 1])
    expect((await itemsOf(id)).map(({ state }) => state)).toEqual(['done', 'done', 'done'])
  })

  it('that comes an hour late does nothing', async () => {
    const { id } = await startOn(2, { action: 'power', signal: 'kill' })
    world.clock.advance(3_601)
    await finish()
    expect(daemon.calls).toEqual([])
    expect((await itemsOf(id)).map(({ errorStatus }) => errorStatus)).toEqual([409, 409])
    expect((await operationOf(id))?.finishedAt).not.toBeNull()
  })
})

describe('P-5: a bulk operation whose worker dies', () => {
  const points = Array.from({ length: 14 }, (_, at) => at + 1).flatMap((at) =>
    [false, true].map((happens) => ({ at, happens })),
  )

  /** Runs the jobs in a process that dies at this point, and then in another one once the lease is over. */
  async function crashAndRecover(point: { at: number; happens: boolean }) {
    const state = processThatCrashes(point)
    await sweepJobs(crashingPanel(world.panel, state), jobHandlers).catch((error: unknown) => {
      if (!(error instanceof ProcessCrashed)) throw error
    })
    world.clock.advance(leaseSeconds)
    await finish()
    return state.hasCrashed
  }

  it('sends power signals at most once, and says which outcome is unknown', async () => {
    let crashes = 0
    for (const point of points) {
      daemon.calls.length = 0
      const { id, made } = await startOn(2, { action: 'power', signal: 'start' })
      if (await crashAndRecover(point)) crashes += 1
      const items = await itemsOf(id)
      expect((await operationOf(id))?.finishedAt, JSON.stringify(point)).not.toBeNull()
      for (const [at, { uuid }] of made.entries()) {
        const { state, errorCode } = items[at]!
        expect(callsTo(uuid), JSON.stringify(point)).toBeLessThanOrEqual(1)
        if (state === 'done') expect(callsTo(uuid)).toBe(1)
        else expect([state, errorCode]).toEqual(['failed', 'UnknownOutcomeException'])
      }
    }
    expect(crashes).toBeGreaterThan(20)
  })

  it('deletes every server in the end', async () => {
    for (const point of points) {
      const { id } = await startOn(2, { action: 'delete', force: false })
      await crashAndRecover(point)
      expect(await world.database.db.select().from(servers), JSON.stringify(point)).toEqual([])
      expect((await itemsOf(id)).map(({ state }) => state)).toEqual(['done', 'done'])
    }
  })
})

it('a bulk operation is deleted after seven days', async () => {
  const { id } = await startOn(1, { action: 'suspend' })
  await finish()
  world.clock.advance(6 * 86_400)
  await prune(world.panel)
  expect(await operationOf(id)).toBeDefined()
  world.clock.advance(2 * 86_400)
  await prune(world.panel)
  expect(await operationOf(id)).toBeUndefined()
  expect(await itemsOf(id)).toEqual([])
})
