import { testRedisUrl } from '../support/upstash.ts'
import { closeConnections, load, prepareRequests, roundRobin } from './measure.ts'
import { type RunningPanel, startPanel } from './panel.ts'
import { limitProcessors } from './processor-share.ts'
import { processorMs, processTree } from './processor-time.ts'
import { rows } from './rows.ts'
import type { Size } from './seed.ts'
import { decimal, printHeading, spreadOf } from './table.ts'

/** Answers a second and the processor time of Node for each answer in milliseconds, in each round, by the name of a panel. */
type Scaling = { name: string; rates: Map<string, Rate[]> }
type Rate = { perSecond: number; node: number }

const rowNames = ['public', 'account', 'list', 'view', 'resources', 'power', 'feed', 'admin-list']
const concurrency = 32
const roundMilliseconds = 4000
/** How long each process is warmed with each row: two that shared the requests of one would be half as warm. */
const warmMilliseconds = 3000
/**
 * What each process may take of a processor. PostgreSQL and the callers share the processors with the panel: without a
 * limit one process fills two of them with these.
 */
const share = 0.2
const one = 'one process'
const variables: Record<string, Record<string, string>> = {
  [one]: {},
  'two and PostgreSQL': { PROCESSES: '2' },
  'two and Redis': { PROCESSES: '2', REDIS_URL: testRedisUrl },
}

/** Measures what a second process adds when each has as much of a processor as one alone, in turns. */
export async function measureProcesses(url: string, size: Size, rounds: number): Promise<Scaling[]> {
  const panels = new Map<string, RunningPanel>()
  let removeLimits = null
  try {
    for (const [name, each] of Object.entries(variables))
      panels.set(name, await startPanel({ url, isMeasured: false, variables: each }))
    const pids = await Promise.all(
      [...panels].map(([name, { pid }]) => answeringProcesses(pid, name !== one)),
    )
    // Code that has not run yet is compiled, which would be counted.
    for (const name of rowNames)
      for (const [panelName, panel] of panels)
        await measure(panel, name, size, warmMilliseconds * (panelName === one ? 1 : 2))
    // The connections of before a second process listened are all the first one's.
    closeConnections()
    removeLimits = await limitProcessors(pids.flat(), share)
    if (!removeLimits) console.log('This machine has no control groups: the processes are not limited.')
    const found: Scaling[] = []
    for (const name of rowNames) found.push({ name, rates: await measureInTurns(panels, name, size, rounds) })
    return found
  } finally {
    closeConnections()
    for (const panel of panels.values()) await panel.stop()
    await removeLimits?.()
  }
}

/** Lists the processes that answer: a panel of two starts the second after the first, and itself only hands out callers. */
async function answeringProcesses(pid: number, areTwo: boolean): Promise<number[]> {
  if (!areTwo) return [pid]
  for (;;) {
    const [, ...children] = await processTree(pid)
    if (children.length === 2) return children
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function measureInTurns(
  panels: Map<string, RunningPanel>,
  row: string,
  size: Size,
  rounds: number,
): Promise<Map<string, Rate[]>> {
  const rates = new Map<string, Rate[]>([...panels.keys()].map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1)
    for (const [name, panel] of panels)
      rates.get(name)?.push(await measure(panel, row, size, roundMilliseconds))
  return rates
}

async function measure(panel: RunningPanel, name: string, size: Size, milliseconds: number): Promise<Rate> {
  const row = rows.find((each) => each.name === name)
  if (!row) throw new Error(`There is no row ${name}.`)
  const target = roundRobin(
    panel.port,
    row.status,
    prepareRequests(panel.port, 1000, (n) => row.request(n, size)),
  )
  await load(target, concurrency, milliseconds / 4)
  const before = await usedBy(panel)
  const { times, refused, seconds } = await load(target, concurrency, milliseconds)
  const node = ((await usedBy(panel)) - before) / (times.length + refused)
  return { perSecond: times.length / seconds, node }
}

async function usedBy({ pid }: RunningPanel): Promise<number> {
  const used = await Promise.all((await processTree(pid)).map(processorMs))
  return used.reduce((sum, each) => sum + each, 0)
}

/** Prints what a second process adds: the median of the ratios of each round, since the speed of a machine drifts. */
export function printProcesses(found: Scaling[]): void {
  printHeading(`two processes with ${share} processors each (target: 1.7 times the answers of one)`)
  for (const { name, rates } of found) {
    const alone = rates.get(one) ?? []
    const columns = [...rates].map(([panel, rounds]) => {
      const ratios = spreadOf(
        rounds.map(({ perSecond }, round) => perSecond / (alone[round]?.perSecond ?? Number.NaN)),
      )
      const ratio =
        panel === one
          ? ''
          : ` × ${decimal(ratios.median, 2)} (${decimal(ratios.min, 2)} to ${decimal(ratios.max, 2)})`
      const perSecond = spreadOf(rounds.map((each) => each.perSecond)).median
      const node = spreadOf(rounds.map((each) => each.node)).median
      return `${panel} ${decimal(perSecond, 0)}${ratio} (Node ${decimal(node, 2)} ms)`
    })
    console.log(`${name.padEnd(12)} ${columns.join('; ')}`)
  }
}
