import type { WebSocket } from 'ws'
import type { Daemon } from './daemon.ts'
import { sendCommand } from './game-process.ts'
import {
  describeUsage,
  type ConnectedSocket,
  type GameServer,
  type PowerAction,
  type ServerEvent,
} from './game-server.ts'
import { isPowerAction, PowerError, runPowerAction } from './power.ts'
import {
  hasPermission,
  hasScope,
  isExpired,
  jwtMessages,
  JwtError,
  verifyToken,
  type TokenClaims,
} from './token.ts'

const expiringSeconds = 60

const eventPermissions = new Map([
  ['install output', 'admin.websocket.install'],
  ['backup completed', 'backup.read'],
  ['transfer logs', 'admin.websocket.transfer'],
])

const actionPermissions: Record<PowerAction, string> = {
  start: 'control.start',
  stop: 'control.stop',
  restart: 'control.restart',
  kill: 'control.stop',
}

type Session = {
  daemon: Daemon
  server: GameServer
  webSocket: WebSocket
  ip: string
  claims: TokenClaims | undefined
  subscription: ((event: ServerEvent) => void) | undefined
}

/** Serves a connected socket until it closes. Wings: docs/wings.md#websocket. */
export function openSession(daemon: Daemon, server: GameServer, webSocket: WebSocket, ip: string): void {
  const session: Session = { daemon, server, webSocket, ip, claims: undefined, subscription: undefined }
  const socket: ConnectedSocket = {
    user: () => session.claims?.user_uuid,
    close: (code, reason) => (code === undefined ? webSocket.terminate() : webSocket.close(code, reason)),
  }
  const timer = setInterval(() => checkExpiry(session), daemon.settings.tokenCheckInterval).unref()
  server.sockets.add(socket)
  webSocket.on('error', () => webSocket.terminate())
  webSocket.on('close', () => {
    clearInterval(timer)
    server.sockets.delete(socket)
    if (session.subscription) server.listeners.delete(session.subscription)
  })
  webSocket.on('message', (data) => {
    const message = readMessage((data as Buffer).toString('utf8'))
    if (message) handleMessage(session, message).catch((error: unknown) => sendError(session, error))
  })
}

function readMessage(text: string): Required<ServerEvent> | undefined {
  try {
    const frame = JSON.parse(text) as { event?: unknown; args?: unknown } | null
    if (typeof frame?.event !== 'string') return undefined
    const args = Array.isArray(frame.args) ? frame.args : []
    return { event: frame.event, args: args.filter((entry) => typeof entry === 'string') }
  } catch {
    return undefined
  }
}

async function handleMessage(session: Session, message: Required<ServerEvent>): Promise<void> {
  const text = message.args.join('')
  if (message.event === 'auth') return authenticate(session, text)
  const defect = findTokenDefect(session)
  if (defect) return write(session, { event: 'jwt error', args: [defect] })
  switch (message.event) {
    case 'set state':
      return changeState(session, text)
    case 'send command':
      return runCommand(session, text)
    case 'send logs':
      if (session.server.process) {
        for (const line of session.server.lines) send(session, { event: 'console output', args: [line] })
      }
      return undefined
    case 'send stats':
      return sendStats(session)
    default:
      return undefined
  }
}

function authenticate(session: Session, token: string): void {
  const { daemon, server } = session
  const claims = verifyToken(token, daemon.credentials.inbound.token)
  if (daemon.denylist.isDenied(claims, server.uuid)) throw new JwtError(jwtMessages.denied)
  if (!mayConnect(session, claims)) throw new JwtError(jwtMessages.noConnect)
  session.claims = claims
  write(session, { event: 'auth success' })
  if (session.subscription) return
  session.subscription = (event) => send(session, event)
  server.listeners.add(session.subscription)
  send(session, { event: 'status', args: [server.state] })
  if (server.state === 'offline' && !server.installation && !server.transfer) sendStats(session)
}

function mayConnect(session: Session, claims: TokenClaims): boolean {
  return (
    hasScope(claims, 'websocket', session.daemon.settings.profile) &&
    hasPermission(claims, 'websocket.connect')
  )
}

/** Finds why the session's token is not valid now, as the message that browsers match on. */
function findTokenDefect(session: Session): string | undefined {
  const { claims, daemon, server } = session
  if (!claims) return jwtMessages.missing
  if (isExpired(claims.exp)) return jwtMessages.expired
  if (daemon.denylist.isDenied(claims, server.uuid)) return jwtMessages.denied
  if (!mayConnect(session, claims)) return jwtMessages.noConnect
  return claims.server_uuid === server.uuid ? undefined : jwtMessages.wrongServer
}

async function changeState(session: Session, action: string): Promise<void> {
  const { daemon, server, claims } = session
  if (!isPowerAction(action) || !claims || !hasPermission(claims, actionPermissions[action])) return
  await runPowerAction(daemon, server, action)
  recordActivity(session, `server:power.${action}`, {})
}

function runCommand(session: Session, command: string): void {
  const { daemon, server, claims } = session
  if (!claims || !hasPermission(claims, 'control.console') || !server.process) return
  sendCommand(daemon, server, command)
  recordActivity(session, 'server:console.command', { command })
}

function recordActivity(session: Session, event: string, metadata: Record<string, unknown>): void {
  const { daemon, server, claims, ip } = session
  daemon.activity.add({ user: claims?.user_uuid ?? null, server: server.uuid, event, metadata, ip })
}

function sendStats(session: Session): void {
  send(session, { event: 'stats', args: [JSON.stringify(describeUsage(session.server))] })
}

function checkExpiry(session: Session): void {
  if (!session.claims) return
  const left = session.claims.exp - Math.floor(Date.now() / 1_000)
  if (left <= 0) send(session, { event: 'token expired' })
  else if (left <= expiringSeconds) send(session, { event: 'token expiring' })
}

/** Sends an event if the user may see it, or a `jwt error` when the token is no longer valid. */
function send(session: Session, event: ServerEvent): void {
  const defect = findTokenDefect(session)
  if (defect) return write(session, { event: 'jwt error', args: [defect] })
  const permission = eventPermissions.get(event.event)
  if (permission && session.claims && !hasPermission(session.claims, permission)) return
  write(session, event)
}

function sendError(session: Session, error: unknown): void {
  const prefix = `Error Event [${session.server.uuid}]:`
  if (error instanceof JwtError) {
    return write(session, { event: 'jwt error', args: [`${prefix} ${error.message}`] })
  }
  const mayRead = session.claims && hasPermission(session.claims, 'admin.websocket.errors')
  const isBusy = error instanceof PowerError && error.busy
  const text = error instanceof Error && (mayRead || isBusy) ? error.message : 'the request failed'
  session.daemon.log(
    `${session.server.uuid}: socket: ${error instanceof Error ? error.message : String(error)}`,
  )
  write(session, { event: 'daemon error', args: [`${prefix} ${text}`] })
}

function write(session: Session, { event, args }: ServerEvent): void {
  if (session.webSocket.readyState !== session.webSocket.OPEN) return
  session.webSocket.send(JSON.stringify(args && args.length > 0 ? { event, args } : { event }))
}
