import { type Connection, openConnection, quantile, requestBytes } from './http-client.ts'
import { readUsage, type RunningPanel } from './panel.ts'
import { type BackendTimes, usedBetween } from './processor-time.ts'

/** Something that is called over and over; `next` gives the bytes of its next request. */
export type Target = { port: number; status: number; next: () => Buffer }

/** One measurement; times are milliseconds, `node` and `postgres` processor time for each answer. */
export type Sample = {
  perSecond: number
  p50: number
  p99: number
  node: number
  postgres: number
  /** Answers with another status, such as 503 under too much load. */
  refused: number
}

/** Returns a target that sends each of the requests in turn, from a different place in each round. */
export function roundRobin(port: number, status: number, requests: Buffer[]): Target {
  let turn = 0
  return {
    port,
    status,
    next: () => {
      turn += 1
      return requests[turn % requests.length] ?? Buffer.alloc(0)
    },
  }
}

/** Prepares requests of which each has its own key. */
export const prepareRequests = (
  port: number,
  count: number,
  request: (n: number) => Parameters<typeof requestBytes>[1],
): Buffer[] => Array.from({ length: count }, (_, n) => requestBytes(port, request(n)))

/** Connections that are kept open over all rounds, by port. */
const connections = new Map<number, Connection[]>()

/** Returns as many connections to the port. */
export function connectionsTo(port: number, count: number): Connection[] {
  const open = connections.get(port) ?? []
  connections.set(port, open)
  while (open.length < count) open.push(openConnection(port))
  return open.slice(0, count)
}

/** Closes all connections. */
export function closeConnections(): void {
  for (const open of connections.values()) for (const connection of open) connection.close()
  connections.clear()
}

/** Requests that each caller sends at least in a sample: of fewer, most of it is a burst and its end. */
const requestsPerCaller = 4

/** Keeps so many requests in the air for some time, at least so many of each caller; returns the milliseconds of each answer. */
export async function load(
  target: Target,
  concurrency: number,
  milliseconds: number,
  perCaller = 1,
): Promise<{ times: number[]; refused: number; seconds: number; failed: string }> {
  const times: number[] = []
  const start = performance.now()
  let refused = 0
  let failed = ''
  await Promise.all(
    connectionsTo(target.port, concurrency).map(async (connection) => {
      let sent = 0
      do {
        sent += 1
        const answer = await connection.send(target.next())
        if (answer.status === target.status) {
          times.push(answer.milliseconds)
          continue
        }
        refused += 1
        failed = `${answer.status} ${answer.body.slice(0, 200)}`
        // A client that was refused waits, as `Retry-After` asks it to.
        await new Promise((resolve) => setTimeout(resolve, 50))
      } while (performance.now() - start < milliseconds || sent < perCaller)
    }),
  )
  return { times, refused, failed, seconds: (performance.now() - start) / 1000 }
}

/** Measures a target once; `panel` is the process that answers. */
export async function sample(
  target: Target,
  concurrency: number,
  milliseconds: number,
  { panel, backends }: { panel: RunningPanel; backends: BackendTimes | null },
): Promise<Sample> {
  const [nodeBefore, postgresBefore] = [await readUsage(panel), await backends?.read()]
  const { times, refused, seconds, failed } = await load(target, concurrency, milliseconds, requestsPerCaller)
  const [nodeAfter, postgresAfter] = [await readUsage(panel), await backends?.read()]
  if (times.length === 0) throw new Error(`No answer of ${refused} was as it should be: ${failed}`)
  const answers = times.length + refused
  return {
    perSecond: times.length / seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    node: (nodeAfter.processorMs - nodeBefore.processorMs) / answers,
    postgres:
      postgresBefore && postgresAfter ? usedBetween(postgresBefore, postgresAfter) / answers : Number.NaN,
    refused,
  }
}
