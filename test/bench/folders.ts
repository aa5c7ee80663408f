import { eq, inArray } from 'drizzle-orm'
import { nodes, servers } from '../../src/db/schema.ts'
import { openPostgres } from '../../src/platform/postgres.ts'
import { startProcess } from '../support/processes.ts'
import { closeConnections, quantile, round, type Scenario, send } from './load.ts'

const entries = 300_000
const mib = 1024 * 1024

/** How far the event loop was delayed, in milliseconds, and the greatest growth of resident memory, in bytes. */
type Usage = { delayP99Ms: number; delayMaxMs: number; memoryGrowthBytes: number }

/** What listing a folder with many entries costs, and what it does to reads beside it: p99 in milliseconds. */
export type FolderCosts = Usage & {
  listings: number
  bytes: number
  p50: number
  quiet: number
  busy: number
}

/** Lists a folder of 300,000 entries again and again, while another client reads. */
export async function measureFolder(
  url: string,
  port: number,
  { listing, read, server }: { listing: Scenario; read: Scenario; server: string },
): Promise<FolderCosts> {
  const daemon = await startProcess('test/bench/folder-daemon.ts', {
    args: [String(entries)],
    ready: /listening \d+/,
  })
  try {
    await setDaemonPort(url, server, Number(/listening (\d+)/.exec(daemon.output())?.[1]))
    // The server has closed what was idle while the daemon started.
    closeConnections()
    // The first ones compile the code and let the heap grow to its usual size.
    for (let at = 0; at < 3; at += 1) await list(port, listing)
    const quiet = quantile((await round(port, read)).times, 0.99)
    await takeUsage(port)
    const lister = keepListing(port, listing)
    const busy = quantile((await round(port, read)).times, 0.99)
    const { times, bytes } = await lister.end()
    const usage = await takeUsage(port)
    return { ...usage, listings: times.length, bytes, p50: quantile(times, 0.5), quiet, busy }
  } finally {
    await daemon.stop()
  }
}

async function setDaemonPort(url: string, server: string, daemonListen: number): Promise<void> {
  const database = openPostgres(url, 1)
  const nodeIds = database.db.select({ id: servers.nodeId }).from(servers).where(eq(servers.uuid, server))
  await database.db.update(nodes).set({ daemonListen }).where(inArray(nodes.id, nodeIds))
  await database.close()
}

async function list(port: number, listing: Scenario): Promise<number> {
  const { status, bytes } = await send(port, listing)
  if (status !== 200) throw new Error(`A listing answered ${status}.`)
  return bytes
}

function keepListing(port: number, listing: Scenario) {
  let isOver = false
  const times: number[] = []
  let bytes = 0
  const work = (async () => {
    while (!isOver) {
      const start = performance.now()
      bytes = await list(port, listing)
      times.push(performance.now() - start)
    }
  })()
  // A failure is thrown by `end`.
  work.catch(() => undefined)
  return {
    end: async () => {
      isOver = true
      await work
      return { times, bytes }
    },
  }
}

/** Returns the usage of the panel's process since the last call, and begins anew. */
const takeUsage = async (port: number): Promise<Usage> =>
  (await (await fetch(`http://127.0.0.1:${port}/usage`)).json()) as Usage

/** Prints the row of a large folder. */
export function printFolder(costs: FolderCosts): void {
  const words = [
    `${costs.listings} listings one after the other, p50 ${costs.p50.toFixed(0)} ms, ${(costs.bytes / mib).toFixed(1)} MiB each`,
    `event loop delayed by ${costs.delayP99Ms.toFixed(0)} ms at p99, ${costs.delayMaxMs.toFixed(0)} ms at most`,
    `${(costs.memoryGrowthBytes / mib).toFixed(0)} MiB more memory`,
    `reads beside them p99 ${costs.busy.toFixed(1)} ms, ${costs.quiet.toFixed(1)} ms beside none`,
  ]
  console.log(`\nfolder of ${entries.toLocaleString('en')} entries: ${words.join('; ')}`)
}
