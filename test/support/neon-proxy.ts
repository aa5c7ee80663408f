import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { type WebSocket, WebSocketServer } from 'ws'

export type NeonProxy = {
  /** `host:port`, as NEON_LOCAL_PROXY takes it. */
  address: string
  /** The number of statements by HTTP and of connections by WebSocket. */
  counts: { statements: number; connections: number }
  close: () => Promise<void>
}

/** Speaks Neon's two protocols in front of one PostgreSQL database: statements over HTTP, its wire over WebSocket. */
export async function startNeonProxy(databaseUrl: string): Promise<NeonProxy> {
  const { hostname, port } = new URL(databaseUrl)
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 5 })
  pool.on('error', () => undefined)
  const counts = { statements: 0, connections: 0 }
  const server = createServer((request, response) => {
    counts.statements += 1
    void answerStatement(pool, request, response)
  })
  const sockets = new WebSocketServer({ server, path: '/v2', perMessageDeflate: false })
  sockets.on('connection', (socket) => {
    counts.connections += 1
    pipe(socket, connect(Number(port || 5432), hostname))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await pool.end()
    },
  }
}

/** Pipes bytes both ways; `net` buffers what is written before it is connected. */
function pipe(socket: WebSocket, database: Socket): void {
  socket.on('message', (data: Buffer) => void database.write(data))
  socket.on('close', () => void database.destroy())
  socket.on('error', () => void database.destroy())
  database.on('data', (data) => socket.send(data))
  database.on('close', () => socket.close())
  database.on('error', () => socket.close())
}

/** Handles `POST /sql` with `{query, params}`: returns values as PostgreSQL wrote them, rows as arrays, errors as 400. */
async function answerStatement(
  pool: pg.Pool,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { query, params } = JSON.parse(await text(request)) as { query: string; params: unknown[] }
  try {
    const types = { getTypeParser: () => (value: string) => value }
    const result = await pool.query({ text: query, values: params, rowMode: 'array', types })
    const { fields, rows, rowCount, command } = result
    send(response, 200, { fields, rows, rowCount, command, rowAsArray: true })
  } catch (error) {
    // `message` is not enumerable.
    send(response, 400, { ...(error as object), message: (error as Error).message })
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
