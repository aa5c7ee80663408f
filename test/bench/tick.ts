import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import { single, rowsOf } from '../../src/db/database.ts'
import { claimDueSchedules } from '../../src/domain/schedules/due-schedules.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import type { Panel } from '../../src/panel.ts'
import { localQueue } from '../../src/platform/local/queue.ts'
import { openPanel, type Services } from '../../src/platform/open-panel.ts'
import { serve } from '../../src/platform/serve.ts'
import { jobs } from '../../src/surfaces/jobs.ts'
import { benchOrigin, openBenchServices } from './services.ts'

const [url, daemonPort] = process.argv.slice(2)
if (!url || !daemonPort) throw new Error('Usage: tick.ts <database url> <port of the daemon>')

/** The number of schedules that are not due. */
const idle = 100_000
const rounds = 3
/** The number of schedules whose runs are measured to their end. */
const dispatched = 3000
/** Milliseconds. */
const timeoutMs = 300_000

let statements = 0
const services = await openBenchServices(url, () => {
  statements += 1
})

/** Opens a panel that does not announce its jobs, or announces them within this process. */
function panelOver(queue: Services['queue']): Panel {
  const facts = { ip: '127.0.0.1', requestId: 'bench', defer: () => undefined }
  return { ...openPanel({ ...services, queue }, facts), actor: { kind: 'system' } }
}

const count = async (query: string) =>
  single(
    rowsOf<{ count: number }>(
      await services.db.execute(sql.raw(`select count(*)::int as count from ${query}`)),
    ),
  ).count

/** Prepares rows without a limit of time, which statements of the panel have. */
const preparation = new Client(url)
await preparation.connect()

/** Adds hourly schedules with one command each. */
async function addSchedules(number: number, nextRunAt: string): Promise<void> {
  await preparation.query(
    `with added as (
      insert into schedules (server_id, name, cron_minute, cron_hour, cron_day_of_month, cron_day_of_week, is_active, next_run_at)
      select (select id from servers order by id offset n % 50 limit 1), 'No. ' || n, '0', '*', '*', '*', true, ${nextRunAt}
      from generate_series(1, ${number}) n returning id
    ) insert into tasks (schedule_id, sequence_id, action, payload, time_offset)
      select id, 1, 'command', 'say hi', 0 from added`,
  )
}

async function forgetDue(): Promise<void> {
  await preparation.query(`delete from schedules where name not like 'Idle%'`)
  await preparation.query('delete from jobs')
}

/** Returns how many commands the daemon has taken. */
const countTaken = async () =>
  ((await (await fetch(`http://127.0.0.1:${daemonPort}/count`)).json()) as { taken: number }).taken

/** Returns the processor time of this process since `before`, in milliseconds: a busy machine does not change it. */
const processorTime = (before: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Measures the milliseconds and statements of claiming so many schedules; returns the best round. */
async function claim(number: number) {
  let [milliseconds, processor, counted] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0]
  for (let round = 0; round < rounds; round += 1) {
    await addSchedules(number, `now() - interval '1 second'`)
    const [before, statementsBefore, usage] = [performance.now(), statements, process.cpuUsage()]
    const claimed = await claimDueSchedules(panelOver(services.queue))
    if (claimed !== number) throw new Error(`${claimed} of ${number} schedules were claimed.`)
    milliseconds = Math.min(milliseconds, performance.now() - before)
    processor = Math.min(processor, processorTime(usage))
    counted = statements - statementsBefore
    await forgetDue()
  }
  return { due: number, milliseconds, processor, statements: counted }
}

/** Measures the milliseconds from the tick until every command was sent and every run has ended. */
async function dispatch(number: number) {
  await addSchedules(number, `now() - interval '1 second'`)
  const takenBefore = await countTaken()
  const signingKeys = { current: 'sig_current_of_the_bench', next: 'sig_next_of_the_bench' }
  const { queue, close } = localQueue({
    origin: () => benchOrigin,
    signingKeys,
    deliver: async (request) => app.fetch(request),
  })
  const app = serve(
    {
      services: async () => ({ ...services, queue }),
      clientAddress: () => '127.0.0.1',
      waitUntil: () => undefined,
    },
    jobs,
  )
  const [before, usage] = [performance.now(), process.cpuUsage()]
  const panel = panelOver(queue)
  let ticks = 0
  do {
    ticks += 1
    await runTick(panel)
  } while ((await count(`schedules where is_active and not is_processing and next_run_at <= now()`)) > 0)
  while ((await count(`schedule_runs where state = 'running'`)) > 0) {
    if (performance.now() - before > timeoutMs) throw new Error('The runs do not come to their end.')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const [milliseconds, processor] = [performance.now() - before, processorTime(usage)]
  close()
  const succeeded = await count(`schedule_runs where state = 'succeeded'`)
  const taken = (await countTaken()) - takenBefore
  if (succeeded !== number || taken !== number)
    throw new Error(`Of ${number} commands ${taken} were sent, and ${succeeded} runs succeeded.`)
  return { due: number, milliseconds, processor, ticks }
}

await addSchedules(idle, `now() + interval '1 day'`)
await preparation.query(`update schedules set name = 'Idle ' || id`)
await preparation.query('analyze schedules, tasks, servers')
await claim(100)
for (const number of [100, 1000]) console.log(JSON.stringify({ claim: await claim(number) }))
console.log(JSON.stringify({ dispatch: await dispatch(dispatched) }))
console.log('done')
await preparation.end()
await services.close()
