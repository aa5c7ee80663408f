import { closeConnections, load, prepareRequests, roundRobin } from './measure.ts'
import { type RunningPanel, startPanel } from './panel.ts'
import { processorMs, processTree } from './processor-time.ts'
import { rows } from './rows.ts'
import type { Size } from './seed.ts'
import { decimal, printHeading } from './table.ts'

/** Answers a second of one process and of two, and the processor time of Node for each answer in milliseconds. */
type Scaling = { name: string; one: Rate; two: Rate }
type Rate = { perSecond: number; node: number }

const rowNames = ['account', 'list', 'view', 'resources', 'power', 'feed', 'admin-list']
const concurrency = 32
const milliseconds = 2000

/** Measures what a second process adds, in turns with one; both share the processors with PostgreSQL and the callers. */
export async function measureProcesses(url: string, size: Size, rounds: number): Promise<Scaling[]> {
  const one = await startPanel({ url, baselineUrl: null })
  const two = await startPanel({ url, baselineUrl: null, variables: { PROCESSES: '2' } })
  try {
    const found: Scaling[] = []
    for (const name of rowNames) {
      const samples: { one: Rate[]; two: Rate[] } = { one: [], two: [] }
      for (let round = 0; round < rounds; round += 1) {
        samples.one.push(await measure(one, name, size))
        samples.two.push(await measure(two, name, size))
      }
      found.push({ name, one: best(samples.one), two: best(samples.two) })
    }
    return found
  } finally {
    closeConnections()
    await two.stop()
    await one.stop()
  }
}

async function measure(panel: RunningPanel, name: string, size: Size): Promise<Rate> {
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

const best = (rates: Rate[]): Rate =>
  rates.reduce((one, other) => (other.perSecond > one.perSecond ? other : one), { perSecond: 0, node: 0 })

/** Prints what a second process adds. */
export function printProcesses(found: Scaling[]): void {
  printHeading('two processes (target: 1.7 times the answers of one, where the processors are theirs)')
  for (const { name, one, two } of found) {
    const ratio = decimal(two.perSecond / one.perSecond, 2)
    console.log(
      `${name.padEnd(12)} ${decimal(one.perSecond, 0)} and ${decimal(two.perSecond, 0)} a second: × ${ratio}; Node ${decimal(one.node, 2)} and ${decimal(two.node, 2)} ms each`,
    )
  }
}
