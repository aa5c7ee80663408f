import { load, prepareRequests, roundRobin } from './measure.ts'
import { startPanel } from './panel.ts'
import { processorMs, residentBytes } from './processor-time.ts'
import { rows } from './rows.ts'
import type { Size } from './seed.ts'
import { decimal, mib, printHeading } from './table.ts'

/** Processor time until the first answer in milliseconds; resident bytes at rest, and at most under 1,000 keys. */
type StartCosts = { processorMs: number; restBytes: number; busyBytes: number }

const starts = 3
const restMs = 5000
const busyMs = 3000
const busyRows = ['account', 'list', 'view', 'resources', 'power', 'feed', 'admin-list', 'remote-page']
const concurrency = 32

/** Measures the start of the panel with an external database, and its memory. */
export async function measureStart(url: string, size: Size): Promise<StartCosts> {
  const times: number[] = []
  for (let start = 0; start < starts; start += 1) {
    const panel = await startPanel({ url, baselineUrl: null })
    times.push(await processorMs(panel.pid))
    await panel.stop()
  }
  const panel = await startPanel({ url, baselineUrl: null })
  try {
    await new Promise((resolve) => setTimeout(resolve, restMs))
    const restBytes = await residentBytes(panel.pid)
    let busyBytes = restBytes
    const timer = setInterval(() => {
      void residentBytes(panel.pid).then((bytes) => (busyBytes = Math.max(busyBytes, bytes)))
    }, 50)
    for (const row of rows.filter(({ name }) => busyRows.includes(name))) {
      const requests = prepareRequests(panel.port, 1000, (n) => row.request(n, size))
      await load(roundRobin(panel.port, row.status, requests), concurrency, busyMs)
    }
    clearInterval(timer)
    return { processorMs: Math.min(...times), restBytes, busyBytes }
  } finally {
    await panel.stop()
  }
}

/** Prints the costs of the start. */
export function printStart({ processorMs: milliseconds, restBytes, busyBytes }: StartCosts): void {
  printHeading('the Node process, with an external database')
  console.log(`processor time to the first answer: ${decimal(milliseconds, 0)} ms (target: 800)`)
  console.log(`resident memory at rest: ${mib(restBytes)} MiB (target: 150)`)
  console.log(`resident memory under 1,000 keys, at most: ${mib(busyBytes)} MiB (target: 220)`)
}
