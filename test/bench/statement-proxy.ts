import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { isTransactionControl } from '../../src/platform/statement-stats.ts'

/** A statement as it reached the database: its text, and its parameters as text. */
export type Statement = { text: string; values: (string | null)[] }

export type StatementProxy = {
  /** The URL of the database by way of the proxy. */
  url: string
  /** Statements since the last call, oldest first, without begin and commit. */
  take: () => Statement[]
  close: () => Promise<void>
}

/** Opens a proxy in front of PostgreSQL that records what any driver sends. */
export async function openStatementProxy(url: string): Promise<StatementProxy> {
  const address = new URL(url)
  let statements: Statement[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(address.port || 5432), address.hostname)
    const read = frontendReader((statement) => {
      if (!isTransactionControl(statement.text)) statements.push(statement)
    })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (chunk: Buffer) => {
      read(chunk)
      upstream.write(chunk)
    })
    upstream.pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxied = new URL(url)
  proxied.hostname = '127.0.0.1'
  proxied.port = String((server.address() as AddressInfo).port)
  return {
    url: proxied.toString(),
    take: () => {
      const taken = statements
      statements = []
      return taken
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Reads the messages of one client: Parse names a text, Bind gives its parameters, Query is a text without any. */
function frontendReader(onStatement: (statement: Statement) => void): (chunk: Buffer) => void {
  const texts = new Map<string, string>()
  let rest: Buffer = Buffer.alloc(0)
  let hasStarted = false
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      // The first message has no type.
      const typeBytes = hasStarted ? 1 : 0
      if (rest.length < typeBytes + 4) return
      const end = typeBytes + rest.readInt32BE(typeBytes)
      if (rest.length < end) return
      const type = hasStarted ? String.fromCharCode(rest[0] ?? 0) : ''
      const message = fieldsOf(rest.subarray(typeBytes + 4, end))
      rest = rest.subarray(end)
      hasStarted = true
      if (type === 'P') texts.set(message.text(), message.text())
      if (type === 'Q') onStatement({ text: message.text(), values: [] })
      if (type === 'B') {
        message.text()
        onStatement({ text: texts.get(message.text()) ?? '', values: message.parameters() })
      }
    }
  }
}

/** Returns functions that read the fields of one message in turn. */
function fieldsOf(bytes: Buffer) {
  let at = 0
  const text = () => {
    const end = bytes.indexOf(0, at)
    const found = bytes.toString('utf8', at, end)
    at = end + 1
    return found
  }
  const parameter = () => {
    const length = bytes.readInt32BE(at)
    at += 4 + Math.max(0, length)
    return length < 0 ? null : bytes.toString('utf8', at - length, at)
  }
  const parameters = () => {
    at += 2 + 2 * bytes.readInt16BE(at)
    const count = bytes.readInt16BE(at)
    at += 2
    return Array.from({ length: count }, parameter)
  }
  return { text, parameters }
}
