import { Client } from 'pg'
import { openConnection, requestBytes } from './http-client.ts'
import type { RunningPanel } from './panel.ts'
import type { Row } from './rows.ts'
import type { Size } from './seed.ts'
import type { Statement, StatementProxy } from './statement-proxy.ts'

/** What a route sends to the database: the statements of several requests, and the bytes of an answer. */
export type Captured = { requests: Statement[][]; statements: number; bytes: number }

/** Requests whose statements are recorded; the first ones fill caches and open connections. */
const warmingRequests = 10
/** Requests that change something, and those whose statements are only counted, are recorded so many times. */
export const fewRequests = 24
const maxAttempts = 5
/** So many requests have a shape in common when it is their own. */
const usualRequests = 5
/** Of these the blocks are counted: as many of each page of a list. */
const explainedRequests = 12

/** The panel behind the proxy, and how many requests of each route are recorded. */
type Recording = { panel: RunningPanel; proxy: StatementProxy; size: Size; requests: number }

/** Records the statements of a route at the driver, whatever driver that is. */
export async function captureRow(row: Row, recording: Recording): Promise<Captured> {
  const { panel, proxy, size } = recording
  const connection = openConnection(panel.port)
  let bytes = 0
  const record = async (n: number) => {
    // Work that goes on after an answer is not the request's.
    if (row.changing) await new Promise((resolve) => setTimeout(resolve, 20))
    proxy.take()
    const answer = await connection.send(requestBytes(panel.port, row.request(n, size)))
    if (answer.status !== row.status)
      throw new Error(`${row.name} answered ${answer.status} in place of ${row.status}: ${answer.body}`)
    bytes = answer.bytes
    return proxy.take()
  }
  for (let n = 0; n < warmingRequests; n += 1) await record(n)
  const requests: Statement[][] = []
  const count = row.changing ? fewRequests : recording.requests
  for (let n = 0; n < count; n += 1) requests.push(await record(warmingRequests + n))
  const usual = usualShape(requests.map(shapeOf))
  for (const n of requests.keys()) {
    // The tick of the minute came in between.
    for (let attempt = 0; attempt < maxAttempts && shapeOf(requests[n] ?? []) !== usual; attempt += 1)
      requests[n] = await record(warmingRequests + n)
  }
  connection.close()
  const captured = requests.filter((statements) => shapeOf(statements) === usual)
  return { requests: captured, statements: captured[0]?.length ?? 0, bytes }
}

/** How its statements begin, which tells the request's own from those of jobs beside it. */
const shapeOf = (statements: Statement[]) => statements.map(({ text }) => text.slice(0, 32)).join(';')

/** Returns the shortest shape that several requests have: what jobs send beside them only adds. */
function usualShape(shapes: string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const shape of shapes) counts.set(shape, (counts.get(shape) ?? 0) + 1)
  const frequent = [...counts].flatMap(([shape, count]) => (count >= usualRequests ? [shape] : []))
  return frequent.toSorted((a, b) => a.length - b.length)[0]
}

/** Counts the blocks that the statements of one request touch, hit or read, once everything is in memory. */
export async function countBlocks(url: string, { requests }: Captured): Promise<number> {
  const client = new Client(url)
  await client.connect()
  try {
    const counts: number[] = []
    for (const statements of requests.slice(0, explainedRequests)) {
      let blocks = 0
      for (const statement of statements) blocks += await explain(client, statement)
      counts.push(blocks)
    }
    return counts.toSorted((a, b) => a - b)[Math.floor(counts.length / 2)] ?? 0
  } finally {
    await client.end()
  }
}

type Plan = { Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }

/** Runs the statement twice, undoes it, and returns the blocks of the second run. */
async function explain(client: Client, { text, values }: Statement): Promise<number> {
  const explained = { text: `explain (analyze, buffers, format json) ${text}`, values }
  let blocks = 0
  for (let run = 0; run < 2; run += 1) {
    await client.query('begin')
    const { rows } = await client.query<{ 'QUERY PLAN': Plan[] }>(explained)
    await client.query('rollback')
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan
    blocks = (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0)
  }
  return blocks
}
