import { once } from 'node:events'
import { connect } from 'node:net'

export type Reply = string | number | null | Error | Reply[]
/** Sends one command and returns its reply; an error of Redis is returned as an `Error`, not thrown. */
export type SendCommand = (command: unknown[]) => Promise<Reply>

/** Connects to Redis. Throws when the connection fails. */
export async function connectRedis(url: string): Promise<{ send: SendCommand; close: () => void }> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port || 6379), hostname)
  await once(socket, 'connect')
  const waiting: ((reply: Reply) => void)[] = []
  let received = Buffer.alloc(0)
  socket.on('data', (data) => {
    received = Buffer.concat([received, data])
    for (let parsed = parseReply(received, 0); parsed; parsed = parseReply(received, 0)) {
      received = received.subarray(parsed.end)
      waiting.shift()?.(parsed.reply)
    }
  })
  socket.on('close', () =>
    waiting.splice(0).forEach((give) => give(new Error('Redis closed the connection.'))),
  )
  socket.on('error', () => undefined)
  return {
    send: (command) => {
      const parts = command.map((part) => Buffer.from(String(part)))
      const lines = parts.map((part) => `$${part.length}\r\n${part.toString()}\r\n`)
      return new Promise((resolve) => {
        waiting.push(resolve)
        socket.write(`*${parts.length}\r\n${lines.join('')}`)
      })
    },
    close: () => socket.destroy(),
  }
}

/** Parses the reply at `start`; returns it and where it ends, or null while it has not fully arrived. */
function parseReply(bytes: Buffer, start: number): { reply: Reply; end: number } | null {
  const lineEnd = bytes.indexOf('\r\n', start)
  if (lineEnd < 0) return null
  const line = bytes.toString('utf8', start + 1, lineEnd)
  const next = lineEnd + 2
  switch (String.fromCharCode(bytes[start] ?? 0)) {
    case '+':
      return { reply: line, end: next }
    case '-':
      return { reply: new Error(line), end: next }
    case ':':
      return { reply: Number(line), end: next }
    case '$':
      return parseText(bytes, next, Number(line))
    default:
      return parseList(bytes, next, Number(line))
  }
}

function parseText(bytes: Buffer, start: number, length: number): { reply: Reply; end: number } | null {
  if (length < 0) return { reply: null, end: start }
  if (bytes.length < start + length + 2) return null
  return { reply: bytes.toString('utf8', start, start + length), end: start + length + 2 }
}

function parseList(bytes: Buffer, start: number, length: number): { reply: Reply; end: number } | null {
  if (length < 0) return { reply: null, end: start }
  const list: Reply[] = []
  let end = start
  while (list.length < length) {
    const member = parseReply(bytes, end)
    if (!member) return null
    list.push(member.reply)
    end = member.end
  }
  return { reply: list, end }
}
