import { load, prepareRequests, roundRobin } from './measure.ts'
import { startPanel } from './panel.ts'
import { processorMs, processTree, residentBytes } from './processor-time.ts'
import { rows } from './rows.ts'
import type { Size } from './seed.ts'
import { decimal, mib, printHeading } from './table.ts'

/** Processor time until the first answer in milliseconds; resident bytes at rest, and at most under 1,000 keys. */
type StartCosts = {
  processorMs: number
  restBytes: number
  busyBytes: number
  embedded: { restBytes: number; peakBytes: number }
}

const starts = 3
const restMs = 5000
/** The demo is made after the first answer. */
const demoMs = 20_000
const busyMs = 3000
const busyRows = ['account', 'list', 'view', 'resources', 'power', 'feed', 'admin-list', 'remote-page']
const concurrency = 32

/** Measures the start of the panel with an external database, and its memory. */
export async function measureStart(url: string, size: Size): Promise<StartCosts> {
  const times: number[] = []
  for (let start = 0; start < starts; start += 1) {
    const panel = await startPanel({ url, isMeasured: false })
    times.push(await processorMs(panel.pid))
    await panel.stop()
  }
  const panel = await startPanel({ url, isMeasured: false })
  try {
    await new Promise((resolve) => setTimeout(resolve, restMs))
    const { now: restBytes } = await residentBytes(panel.pid)
    let busyBytes = restBytes
    const timer = setInterval(() => {
      void residentBytes(panel.pid).then(({ now }) => (busyBytes = Math.max(busyBytes, now)))
    }, 50)
    for (const row of rows.filter(({ name }) => busyRows.includes(name))) {
      const requests = prepareRequests(panel.port, 1000, (n) => row.request(n, size))
      await load(roundRobin(panel.port, row.status, requests), concurrency, busyMs)
    }
    clearInterval(timer)
    return { processorMs: Math.min(...times), restBytes, busyBytes, embedded: await measureEmbedded() }
  } finally {
    await panel.stop()
  }
}

/** Measures the first start with the embedded database and the demo: the panel and its daemon together. */
async function measureEmbedded(): Promise<StartCosts['embedded']> {
  const panel = await startPanel({ url: null, isMeasured: false })
  try {
    await new Promise((resolve) => setTimeout(resolve, demoMs))
    const found = await Promise.all((await processTree(panel.pid)).map(residentBytes))
    return {
      restBytes: found.reduce((sum, { now }) => sum + now, 0),
      peakBytes: found.reduce((sum, { peak }) => sum + peak, 0),
    }
  } finally {
    await panel.stop()
  }
}

/** Prints the costs of the start. */
export function printStart({ processorMs: milliseconds, restBytes, busyBytes, embedded }: StartCosts): void {
  printHeading('the Node process')
  console.log(`processor time to the first answer: ${decimal(milliseconds, 0)} ms (target: 800)`)
  console.log(`resident memory at rest: ${mib(restBytes)} MiB (target: 150)`)
  console.log(`resident memory under 1,000 keys, at most: ${mib(busyBytes)} MiB (target: 220)`)
  console.log(
    `with the embedded database and the demo: ${mib(embedded.restBytes)} MiB at rest (target: 350), ${mib(embedded.peakBytes)} MiB at most during the first start (target: 500)`,
  )
}
