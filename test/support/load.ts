import { Agent, request } from 'node:http'

/** What callers saw: answers by their status, and what got none by the code of its error. */
export type Load = {
  counts: Record<string, number>
  /** The most failures of one caller. */
  worst: () => number
  /** Waits until so many further answers have come. */
  answers: (count: number) => Promise<void>
  stop: () => Promise<void>
}

type LoadOptions = {
  ports: number[]
  path: string
  token: string
  callers: number
}

/** Milliseconds after which a request counts as lost. */
const timeoutMs = 15_000

/**
 * Sends requests one after the other from each of several callers, half of which keep their connection. Each caller goes to
 * another port where its own refuses connections, as a balancer does.
 */
export function startLoad({ ports, path, token, callers }: LoadOptions): Load {
  const counts: Record<string, number> = {}
  const failures = Array.from({ length: callers }, () => 0)
  let isStopped = false
  let answered = 0
  const run = async (caller: number) => {
    const agent = new Agent({ keepAlive: caller % 2 === 0, maxSockets: 1 })
    let turn = caller
    while (!isStopped) {
      const outcome = await send({ port: ports[turn % ports.length] ?? 0, path, token, agent })
      if (outcome === 'ECONNREFUSED' && ports.length > 1) turn += 1
      else {
        counts[outcome] = (counts[outcome] ?? 0) + 1
        if (outcome === '200') answered += 1
        else failures[caller] = (failures[caller] ?? 0) + 1
      }
    }
    agent.destroy()
  }
  const running = Promise.all(failures.map((_, caller) => run(caller)))
  return {
    counts,
    worst: () => Math.max(...failures),
    answers: async (count) => {
      const until = answered + count
      while (answered < until) await new Promise((resolve) => setTimeout(resolve, 10))
    },
    stop: async () => {
      isStopped = true
      await running
    },
  }
}

function send(options: { port: number; path: string; token: string; agent: Agent }): Promise<string> {
  const { port, path, token, agent } = options
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
  return new Promise((resolve) => {
    const outgoing = request({ host: '127.0.0.1', port, path, agent, headers, timeout: timeoutMs })
    outgoing.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(String(response.statusCode)))
      response.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    })
    outgoing.on('timeout', () =>
      outgoing.destroy(Object.assign(new Error('No answer.'), { code: 'TIMEOUT' })),
    )
    outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    outgoing.end()
  })
}
