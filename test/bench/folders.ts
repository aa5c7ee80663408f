import { Client } from 'pg'
import { startProcess } from '../support/processes.ts'
import { openConnection, quantile, requestBytes } from './http-client.ts'
import { load, prepareRequests, roundRobin } from './measure.ts'
import { readUsage, type RunningPanel, startPanel, type Usage } from './panel.ts'
import { rows } from './rows.ts'
import { clientToken, serverUuid, type Size } from './seed.ts'
import { decimal, mib, printHeading } from './table.ts'

const entries = 300_000
const readMs = 3000
const readers = 4

/** What listing a folder with many entries costs, and what it does to reads beside it: p99 in milliseconds. */
export type FolderCosts = Pick<Usage, 'delayP99Ms' | 'delayMaxMs'> & {
  memoryGrowthBytes: number
  listings: number
  bytes: number
  p50: number
  quiet: number
  busy: number
}

/** Lists a folder of 300,000 entries again and again, while other clients read. */
export async function measureFolder(url: string, size: Size): Promise<FolderCosts> {
  const daemon = await startProcess('test/bench/folder-daemon.ts', {
    args: [String(entries)],
    ready: /listening \d+/,
  })
  const port = Number(/listening (\d+)/.exec(daemon.output())?.[1])
  const previousPort = await setDaemonPort(url, port)
  const panel = await startPanel({ url, isMeasured: true })
  try {
    // The first ones compile the code and let the heap grow to its usual size.
    for (let at = 0; at < 3; at += 1) await list(panel)
    const view = rows.find(({ name }) => name === 'view')
    if (!view) throw new Error('There is no row of the view.')
    const requests = prepareRequests(panel.port, 1000, (n) => view.request(n, size))
    const reads = roundRobin(panel.port, view.status, requests)
    await load(reads, readers, 500)
    const quiet = quantile((await load(reads, readers, readMs)).times, 0.99)
    const { rssBytes } = await readUsage(panel, true)
    const lister = keepListing(panel)
    const busy = quantile((await load(reads, readers, readMs)).times, 0.99)
    const { times, bytes } = await lister.end()
    const { delayP99Ms, delayMaxMs, maxRssBytes } = await readUsage(panel)
    return {
      delayP99Ms,
      delayMaxMs,
      memoryGrowthBytes: Math.max(0, maxRssBytes - rssBytes),
      listings: times.length,
      bytes,
      p50: quantile(times, 0.5),
      quiet,
      busy,
    }
  } finally {
    await panel.stop()
    await daemon.stop()
    await setDaemonPort(url, previousPort)
  }
}

/** Sets the port of every daemon; returns the one before. */
async function setDaemonPort(url: string, port: number): Promise<number> {
  const client = new Client(url)
  await client.connect()
  const { rows: nodes } = await client.query<{ port: number }>(
    'select daemon_listen as port from nodes limit 1',
  )
  await client.query('update nodes set daemon_listen = $1', [port])
  await client.end()
  return nodes[0]?.port ?? 0
}

async function list(panel: RunningPanel): Promise<{ bytes: number; milliseconds: number }> {
  const connection = openConnection(panel.port)
  const request = {
    method: 'GET',
    path: `/api/client/servers/${serverUuid(1)}/files/list`,
    headers: { authorization: `Bearer ${clientToken(1)}`, accept: 'application/json' },
  }
  const answer = await connection.send(requestBytes(panel.port, request))
  connection.close()
  if (answer.status !== 200) throw new Error(`A listing answered ${answer.status}: ${answer.body}`)
  return answer
}

function keepListing(panel: RunningPanel) {
  let isOver = false
  const times: number[] = []
  let bytes = 0
  const work = (async () => {
    while (!isOver) {
      const answer = await list(panel)
      bytes = answer.bytes
      times.push(answer.milliseconds)
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

/** Prints what a large folder costs. */
export function printFolder(costs: FolderCosts): void {
  printHeading(`a folder of ${entries.toLocaleString('en')} entries`)
  console.log(
    `${costs.listings} listings one after the other, p50 ${decimal(costs.p50, 0)} ms, ${mib(costs.bytes)} MiB each, ${mib(costs.memoryGrowthBytes)} MiB more memory`,
  )
  console.log(
    `event loop delayed by ${decimal(costs.delayP99Ms, 0)} ms at p99, ${decimal(costs.delayMaxMs, 0)} ms at most; reads beside them p99 ${decimal(costs.busy, 1)} ms, beside none ${decimal(costs.quiet, 1)} ms`,
  )
}
