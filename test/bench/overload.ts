import { quantile } from './http-client.ts'
import { load, prepareRequests, roundRobin } from './measure.ts'
import { startPanel } from './panel.ts'
import { rows } from './rows.ts'
import type { Size } from './seed.ts'
import { decimal, printHeading, printTable } from './table.ts'

/** What 500 callers at once get: milliseconds of the answers, and how many were refused. */
type Overload = { name: string; answers: number; p50: number; p99: number; refused: number }

const callers = 500
const milliseconds = 3000
const measured = ['view', 'list', 'power']

/** Measures what more callers get than a process can serve. */
export async function measureOverload(url: string, size: Size): Promise<Overload[]> {
  const panel = await startPanel({ url, isMeasured: false })
  try {
    const results: Overload[] = []
    for (const row of rows.filter(({ name }) => measured.includes(name))) {
      const requests = prepareRequests(panel.port, 1000, (n) => row.request(n, size))
      const target = roundRobin(panel.port, row.status, requests)
      await load(target, 8, 4000)
      const { times, refused } = await load(target, callers, milliseconds)
      results.push({
        name: row.name,
        answers: times.length,
        p50: quantile(times, 0.5),
        p99: quantile(times, 0.99),
        refused,
      })
    }
    return results
  } finally {
    await panel.stop()
  }
}

/** Prints what callers get under overload. */
export function printOverload(results: Overload[]): void {
  printHeading(`${callers} callers at once`)
  printTable(
    ['route', 'answers', 'p50 ms', 'p99 ms', 'refused'],
    results.map(({ name, answers, p50, p99, refused }) => [
      name,
      String(answers),
      decimal(p50, 0),
      decimal(p99, 0),
      String(refused),
    ]),
  )
}
