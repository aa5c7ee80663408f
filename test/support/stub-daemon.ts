import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach } from 'vitest'

/** A request to the daemon; `body` is parsed when it is JSON, else text. */
export type DaemonCall = {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: any
  bytes: Buffer
}

/** A response: `json` or `text` is the body, after which `cut` breaks the connection; `drop` breaks it before an answer, `hang` never responds. */
export type DaemonAnswer =
  | { status?: number; json?: unknown; text?: string; headers?: Record<string, string>; cut?: true }
  | { hang: true }
  | { drop: true }

type PossibleAnswer = DaemonAnswer | null | Promise<DaemonAnswer | null>

export type StubDaemon = {
  readonly port: number
  /** Every call since the start, oldest first. */
  readonly calls: DaemonCall[]
  /** Sets its responses; null, also for one call, is the default success. */
  respond: (answer: DaemonAnswer | null | ((call: DaemonCall) => PossibleAnswer)) => void
  close: () => Promise<void>
}

/** Starts a daemon that only records its calls, on a free port of the loopback interface. */
export async function startStubDaemon(): Promise<StubDaemon> {
  const calls: DaemonCall[] = []
  let answerOf: (call: DaemonCall) => PossibleAnswer = () => null
  const http = createServer((request, response) => {
    void readCall(request).then(async (call) => {
      calls.push(call)
      send(response, (await answerOf(call)) ?? obliging(call))
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  return {
    port: (http.address() as AddressInfo).port,
    calls,
    respond: (answer) => void (answerOf = typeof answer === 'function' ? answer : () => answer),
    close: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

/** Starts one stub daemon for all tests of a file; resets its calls and responses before each. */
export function useStubDaemon(): StubDaemon {
  const daemon = {} as StubDaemon
  beforeAll(async () => {
    Object.assign(daemon, await startStubDaemon())
  })
  afterAll(() => daemon.close())
  beforeEach(() => {
    daemon.respond(null)
    daemon.calls.length = 0
  })
  return daemon
}

async function readCall(request: IncomingMessage): Promise<DaemonCall> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  const text = bytes.toString('utf8')
  const { method = '', url = '', headers } = request
  const isJson = headers['content-type']?.startsWith('application/json') && text !== ''
  return { method, path: url, headers, body: isJson ? JSON.parse(text) : text || null, bytes }
}

function send(response: ServerResponse, answer: DaemonAnswer): void {
  if ('hang' in answer) return
  if ('drop' in answer) return void response.destroy()
  const text = answer.json === undefined ? (answer.text ?? '') : JSON.stringify(answer.json)
  response.writeHead(answer.status ?? 200, {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': 'daemon-request',
    ...answer.headers,
  })
  if (answer.cut) response.write(text, () => response.destroy())
  else response.end(text)
}

/** Returns the default success of a call. Wings: docs/wings.md#servers-on-a-daemon */
function obliging({ method, path }: DaemonCall): DaemonAnswer {
  if (method === 'GET' && path === '/api/system') return { json: { version: '1.11.13' } }
  if (method === 'GET') return { json: { state: 'running', is_suspended: false, utilization: {} } }
  if (path === '/api/update') return { json: { applied: true } }
  const isAccepted = method === 'POST' && /^\/api\/servers(\/[^/]+\/(power|install|reinstall))?$/.test(path)
  return { status: isAccepted ? 202 : 204 }
}
