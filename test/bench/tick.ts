import { sql } from 'drizzle-orm'
import { only, rowsOf } from '../../src/db/database.ts'
import { claimDueSchedules } from '../../src/domain/schedules/claims.ts'
import { tick } from '../../src/domain/tick.ts'
import type { Panel } from '../../src/panel.ts'
import { localQueue } from '../../src/platform/local/queue.ts'
import { openPanel, type Parts } from '../../src/platform/parts.ts'
import { serve } from '../../src/platform/serve.ts'
import { jobs } from '../../src/surfaces/jobs.ts'
import { benchOrigin, openBenchParts } from './parts.ts'

const [url, daemonPort] = process.argv.slice(2)
if (!url || !daemonPort) throw new Error('Usage: tick.ts <database url> <port of the daemon>')

/** Schedules that are not due, beside which the others have to be found. */
const idle = 100_000
const rounds = 3
/** Milliseconds. */
const patience = 300_000

let statements = 0
const parts = await openBenchParts(url, () => {
  statements += 1
})

/** A panel that announces its jobs to nobody, or within this process, as one process does it. */
function panelOver(queue: Parts['queue']): Panel {
  const facts = { ip: '127.0.0.1', requestId: 'bench', defer: () => undefined }
  return { ...openPanel({ ...parts, queue }, facts), actor: { kind: 'system' } }
}

const count = async (query: string) =>
  only(
    rowsOf<{ count: number }>(await parts.db.execute(sql.raw(`select count(*)::int as count from ${query}`))),
  ).count

/** Schedules of every hour with one command each. */
async function addSchedules(number: number, nextRunAt: string): Promise<void> {
  await parts.db.execute(
    sql.raw(`with added as (
      insert into schedules (server_id, name, cron_minute, cron_hour, cron_day_of_month, cron_day_of_week, is_active, next_run_at)
      select (select id from servers order by id offset n % 50 limit 1), 'No. ' || n, '0', '*', '*', '*', true, ${nextRunAt}
      from generate_series(1, ${number}) n returning id
    ) insert into tasks (schedule_id, sequence_id, action, payload, time_offset)
      select id, 1, 'command', 'say hi', 0 from added`),
  )
}

async function forgetDue(): Promise<void> {
  await parts.db.execute(sql.raw(`delete from schedules where name not like 'Idle%'`))
  await parts.db.execute(sql.raw('delete from jobs'))
}

/** Milliseconds of this process' own work since `before`: what a busy machine does not change. */
const processorTime = (before: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Milliseconds and statements that claiming so many takes, all else at rest; the best of some rounds. */
async function claim(number: number) {
  let [milliseconds, processor, counted] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0]
  for (let round = 0; round < rounds; round += 1) {
    await addSchedules(number, `now() - interval '1 second'`)
    const [before, statementsBefore, usage] = [performance.now(), statements, process.cpuUsage()]
    const claimed = await claimDueSchedules(panelOver(parts.queue))
    if (claimed !== number) throw new Error(`${claimed} of ${number} schedules were claimed.`)
    milliseconds = Math.min(milliseconds, performance.now() - before)
    processor = Math.min(processor, processorTime(usage))
    counted = statements - statementsBefore
    await forgetDue()
  }
  return { due: number, milliseconds, processor, statements: counted }
}

/** Milliseconds from the tick until every daemon has heard its command and every run is over. */
async function dispatch(number: number) {
  await addSchedules(number, `now() - interval '1 second'`)
  const signingKeys = { current: 'sig_current_of_the_bench', next: 'sig_next_of_the_bench' }
  const { queue, close } = localQueue({
    origin: () => benchOrigin,
    signingKeys,
    deliver: async (request) => app.fetch(request),
  })
  const app = serve(
    { parts: async () => ({ ...parts, queue }), address: () => '127.0.0.1', settle: () => undefined },
    jobs,
  )
  const [before, usage] = [performance.now(), process.cpuUsage()]
  const panel = panelOver(queue)
  let ticks = 0
  do {
    ticks += 1
    await tick(panel)
  } while ((await count(`schedules where is_active and not is_processing and next_run_at <= now()`)) > 0)
  while ((await count(`schedule_runs where state = 'running'`)) > 0) {
    if (performance.now() - before > patience) throw new Error('The runs do not come to their end.')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const [milliseconds, processor] = [performance.now() - before, processorTime(usage)]
  close()
  const succeeded = await count(`schedule_runs where state = 'succeeded'`)
  const { taken } = (await (await fetch(`http://127.0.0.1:${daemonPort}/count`)).json()) as { taken: number }
  if (succeeded !== number || taken !== number)
    throw new Error(`Of ${number} commands ${taken} were sent, and ${succeeded} runs succeeded.`)
  return { due: number, milliseconds, processor, ticks }
}

await parts.db.execute(sql.raw(`update nodes set daemon_listen = ${Number(daemonPort)}`))
await addSchedules(idle, `now() + interval '1 day'`)
await parts.db.execute(sql.raw(`update schedules set name = 'Idle ' || id`))
await parts.db.execute(sql.raw('analyze schedules, tasks, servers'))
await claim(100)
for (const number of [100, 1000, 10_000]) console.log(JSON.stringify({ claim: await claim(number) }))
console.log(JSON.stringify({ dispatch: await dispatch(10_000) }))
console.log('done')
await parts.close()
