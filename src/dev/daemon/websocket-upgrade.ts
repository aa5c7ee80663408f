import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { Daemon } from './daemon.ts'
import type { GameServer } from './game-server.ts'
import { clientAddress } from './http-context.ts'
import { openSession } from './websocket-session.ts'

const maxSockets = 30
const maxFrameBytes = 4_096
const suspendedCode = 4_409

/**
 * Accepts console sockets at /api/servers/{uuid}/ws. Refuses with 503 before the boot is over, 404 for an unknown
 * server, 403 for an origin that is not allowed, and 400 above 30 sockets. Wings: docs/wings.md#websocket.
 */
export function acceptWebSockets(daemon: Daemon, http: Server): () => void {
  const isOld = daemon.settings.profile === '1.11'
  const sockets = new WebSocketServer({ noServer: true, ...(isOld ? {} : { maxPayload: maxFrameBytes }) })
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    const found = findServer(daemon, request)
    if (typeof found === 'number') return refuse(socket, found)
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      if (found.suspended && !isOld) return webSocket.close(suspendedCode, 'server is suspended')
      openSession(daemon, found, webSocket, clientAddress(request))
    })
  })
  return () => {
    for (const client of sockets.clients) client.terminate()
    sockets.close()
  }
}

function findServer(daemon: Daemon, request: IncomingMessage): GameServer | number {
  const path = (request.url ?? '').split('?')[0] ?? ''
  const uuid = /^\/api\/servers\/([^/]+)\/ws$/.exec(path)?.[1]
  if (uuid === undefined) return 404
  if (!daemon.booted) return 503
  const server = daemon.servers.get(uuid)
  if (!server || server.deleted) return 404
  if (!isAllowedOrigin(daemon, request.headers.origin)) return 403
  if (daemon.settings.profile !== '1.11' && server.sockets.size >= maxSockets) return 400
  return server
}

function isAllowedOrigin(daemon: Daemon, origin: string | undefined): boolean {
  const { remote, allowed_origins: allowed } = daemon.config
  if (origin === undefined) return false
  return origin === remote || (Array.isArray(allowed) && (allowed.includes('*') || allowed.includes(origin)))
}

function refuse(socket: Duplex, status: number): void {
  const requestId = randomUUID()
  const body = JSON.stringify({ error: STATUS_CODES[status], request_id: requestId })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
