import { Agent, request } from 'node:http'

/** The number of concurrent requests. */
const concurrency = 16
const roundMilliseconds = 1000

export type Scenario = {
  name: string
  method: string
  path: string
  headers: Record<string, string>
  body?: string
}

const agent = new Agent({ keepAlive: true })

/** Closes the keep-alive connections. */
export const closeConnections = (): void => agent.destroy()

/** Sends one request; returns its status and size once the last byte has arrived. */
export function send(port: number, scenario: Scenario): Promise<{ status: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const { method, path, headers, body } = scenario
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent }, (answer) => {
      let bytes = 0
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, bytes }))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Keeps `concurrency` requests in the air for one round; `times` are milliseconds. */
export async function round(
  port: number,
  scenario: Scenario,
): Promise<{ perSecond: number; times: number[]; bytes: number }> {
  const times: number[] = []
  const start = performance.now()
  let bytes = 0
  const worker = async () => {
    while (performance.now() - start < roundMilliseconds) {
      const before = performance.now()
      const answer = await send(port, scenario)
      if (answer.status !== 200) throw new Error(`${scenario.name} answered ${answer.status}.`)
      times.push(performance.now() - before)
      bytes = answer.bytes
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return { perSecond: (times.length * 1000) / (performance.now() - start), times, bytes }
}

/** Returns the quantile of the times. */
export const quantile = (times: number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0
