import { eq, sql } from 'drizzle-orm'
import { rowsOf, single } from '../../src/db/database.ts'
import { jobs } from '../../src/db/schema.ts'
import { prune } from '../../src/domain/jobs/prune.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { claimDueSchedules } from '../../src/domain/schedules/due-schedules.ts'
import type { Panel } from '../../src/panel.ts'
import { openPanel } from '../../src/platform/open-panel.ts'
import { openBenchServices } from './services.ts'

/** Schedules that are due at once. */
const due = 10_000
/** Processes that claim them at the same time. */
const claimers = 4

type Cost = { part: string; statements: number; milliseconds: number; processor: number }

/** Measures what jobs cost beside a seeded world: a tick at rest, claims of 10,000 schedules, and pruning. */
export async function measureJobs(url: string): Promise<Cost[]> {
  let statements = 0
  const services = await openBenchServices(url, () => {
    statements += 1
  })
  const facts = { ip: '127.0.0.1', requestId: 'bench', defer: () => undefined }
  const panel: Panel = { ...openPanel(services, facts), actor: { kind: 'system' } }
  const measure = async (part: string, work: () => Promise<unknown>): Promise<Cost> => {
    const [startMs, usage] = [performance.now(), process.cpuUsage()]
    statements = 0
    await work()
    const { user, system } = process.cpuUsage(usage)
    return { part, statements, milliseconds: performance.now() - startMs, processor: (user + system) / 1000 }
  }
  const start = panel.now()
  try {
    // The first one enqueues what recurs, and the second one runs it.
    for (let tick = 0; tick < 3; tick += 1) {
      await runTick(panel)
      await deleteNodeChecks(panel)
    }
    const rest = await measure('a tick at rest', () => runTick(panel))
    await makeDue(panel)
    const claim = await measure(`claiming ${due} schedules`, () => claimDueSchedules(panel))
    await makeDue(panel)
    const racing = await measure(`claiming ${due} by ${claimers} at once`, () =>
      Promise.all(Array.from({ length: claimers }, () => claimDueSchedules(panel))),
    )
    await requireOneRunEach(panel, start)
    const pruning = await measure('pruning with nothing to prune', () => prune(panel))
    return [rest, claim, racing, pruning]
  } finally {
    await services.close()
  }
}

/** Deletes the checks of nodes, which messages of a queue would have run before the next tick: it runs what got none. */
const deleteNodeChecks = ({ db }: Panel) => db.delete(jobs).where(eq(jobs.name, 'check-nodes'))

/** Makes schedules due that have no run in progress, each at a time of its own. */
async function makeDue({ db }: Panel): Promise<void> {
  await db.execute(sql`update schedules set next_run_at = now() - id * interval '1 millisecond', is_processing = false
    where id in (select id from schedules order by id limit ${due})`)
}

/** Throws when a schedule was claimed twice for one due time, or not at all. */
async function requireOneRunEach({ db }: Panel, start: Date): Promise<void> {
  const found = single(
    rowsOf<{ runs: number; doubles: number }>(
      await db.execute(sql`select count(*)::int as runs, (count(*) - count(distinct (schedule_id, due_at)))::int as doubles
        from schedule_runs where started_at >= ${start.toISOString()}::timestamptz`),
    ),
  )
  if (found.runs !== 2 * due || found.doubles > 0)
    throw new Error(`${found.runs} runs of ${2 * due}, ${found.doubles} of them doubled.`)
}

/** Prints the costs. */
export function printJobs(costs: Cost[]): void {
  for (const { part, statements, milliseconds, processor } of costs)
    console.log(
      `${part}: ${statements} statements, ${milliseconds.toFixed(0)} ms, ${processor.toFixed(0)} ms of the panel's processor`,
    )
}
