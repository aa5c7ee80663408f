import { connect, type Socket } from 'node:net'

/** A request as a client sends it. */
export type ClientRequest = {
  method: string
  path: string
  headers: Record<string, string>
  body?: string
}

/** The status of an answer, the bytes of its body, and the milliseconds until its last byte. */
export type ClientAnswer = { status: number; bytes: number; milliseconds: number; body: string }

type Pending = {
  request: Buffer
  startedAt: number
  /** Whether the connection was open before: then the server may have closed it as idle at the same moment. */
  isReused: boolean
  resolve: (answer: ClientAnswer) => void
  reject: (error: Error) => void
}

/** Sends requests one after another over one connection that is kept alive. */
export type Connection = { send: (request: Buffer) => Promise<ClientAnswer>; close: () => void }

/** Writes a request as bytes, so that a generator of load spends its time once. */
export function requestBytes(port: number, { method, path, headers, body }: ClientRequest): Buffer {
  const fields = { host: `127.0.0.1:${port}`, ...headers }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = body === undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}${length}\r\n${body ?? ''}`)
}

/** Opens a connection; it is opened again after the server has closed it. A tenth of the cost of `node:http`. */
export function openConnection(port: number): Connection {
  let socket: Socket | null = null
  let pending: Pending | null = null
  let received: Buffer[] = []
  let length = 0
  const fail = (error: Error) => {
    socket?.destroy()
    socket = null
    const isUnanswered = length === 0
    received = []
    length = 0
    const failed = pending
    pending = null
    if (failed?.isReused && isUnanswered) start({ ...failed, isReused: false })
    else failed?.reject(error)
  }
  const start = (started: Pending) => {
    pending = started
    socket ??= open()
    socket.write(started.request)
  }
  const read = (chunk: Buffer) => {
    received.push(chunk)
    length += chunk.length
    const answer = parseAnswer(received, length)
    if (!answer || !pending) return
    const { startedAt, resolve } = pending
    received = []
    length = 0
    pending = null
    if (answer.closes) {
      socket?.destroy()
      socket = null
    }
    resolve({ ...answer, milliseconds: performance.now() - startedAt })
  }
  const open = () => {
    const opened = connect(port, '127.0.0.1')
    opened.setNoDelay(true)
    opened.on('data', read)
    opened.on('error', (error) => opened === socket && fail(error))
    opened.on('close', () => opened === socket && fail(new Error('The server closed the connection.')))
    return opened
  }
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        start({ request, startedAt: performance.now(), isReused: socket !== null, resolve, reject })
      }),
    close: () => {
      const closing = socket
      socket = null
      closing?.destroy()
    },
  }
}

type Parsed = { status: number; bytes: number; body: string; closes: boolean }

/** Parses the answer once it is complete, else null. */
function parseAnswer(chunks: Buffer[], length: number): Parsed | null {
  const first = chunks[0] ?? Buffer.alloc(0)
  let head = first.indexOf('\r\n\r\n')
  let all = first
  if (head < 0) {
    all = Buffer.concat(chunks)
    head = all.indexOf('\r\n\r\n')
    if (head < 0) return null
  }
  const text = all.toString('latin1', 0, head).toLowerCase()
  const status = Number(text.slice(9, 12))
  const closes = text.includes('\r\nconnection: close')
  const start = head + 4
  const declared = /\r\ncontent-length: (\d+)/.exec(text)?.[1]
  const bodyOf = (end: number) =>
    (chunks.length === 1 ? all : Buffer.concat(chunks)).toString('utf8', start, end)
  if (status === 204 || status === 304) return { status, bytes: 0, body: '', closes }
  if (declared !== undefined) {
    const bytes = Number(declared)
    if (length < start + bytes) return null
    return { status, bytes, closes, body: bytes < maxKeptBytes ? bodyOf(start + bytes) : '' }
  }
  const last = chunks.at(-1) ?? first
  if (!last.subarray(-5).equals(Buffer.from('0\r\n\r\n')) && length > 5) return null
  return { status, bytes: length - start, body: '', closes }
}

/** Larger bodies are counted and not kept. */
const maxKeptBytes = 4096

/** Sends one request over its own connection. */
export async function sendOnce(port: number, request: ClientRequest): Promise<ClientAnswer> {
  const connection = openConnection(port)
  try {
    return await connection.send(requestBytes(port, request))
  } finally {
    connection.close()
  }
}

/** Returns the quantile of the times. */
export const quantile = (times: number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
