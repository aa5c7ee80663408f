import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import type { DaemonOptions } from '../../src/dev/daemon/daemon.ts'
import { startDaemon, type RunningDaemon } from '../../src/dev/daemon/start.ts'
import type { StubPanel } from './stub-panel.ts'

export const nodeSecret = 'secret-of-the-node-0123456789-0123456789-0123456789-0123456789-01'

/** Starts a daemon for the given panel in a folder of its own, with a backoff short enough for tests. */
export async function startTestDaemon(
  panel: Pick<StubPanel, 'url'>,
  options: Partial<DaemonOptions> = {},
): Promise<RunningDaemon & { dataDirectory: string }> {
  const dataDirectory = options.dataDirectory ?? (await mkdtemp(join(tmpdir(), 'daemon-')))
  const daemon = await startDaemon({
    panelUrl: panel.url,
    tokenId: 'node-token-id-01',
    token: nodeSecret,
    uuid: randomUUID(),
    dataDirectory,
    retry: { first: 10, max: 20, total: 100 },
    ...options,
  })
  return { ...daemon, dataDirectory }
}

/** Closes a daemon and removes its folder. */
export async function discardDaemon(daemon: {
  close: () => Promise<void>
  dataDirectory: string
}): Promise<void> {
  await daemon.close()
  await rm(daemon.dataDirectory, { recursive: true, force: true })
}

/** Calls the daemon with the node's bearer token. */
export async function callDaemon(
  daemon: { url: string },
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = { Authorization: `Bearer ${nodeSecret}` },
): Promise<Response> {
  return fetch(`${daemon.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

/** Signs a console token as a panel does; claims given as undefined are left out. */
export function signToken(server: string, claims: Record<string, unknown> = {}, secret = nodeSecret): string {
  const now = Math.floor(Date.now() / 1_000)
  const payload = {
    iat: now,
    nbf: now - 300,
    exp: now + 600,
    jti: 'token-1',
    scope: 'websocket',
    server_uuid: server,
    user_uuid: '3f1c2a55-7a39-4a55-8f43-0d6ac3f0a001',
    permissions: ['*'],
    ...claims,
  }
  const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url')
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(payload)}`
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`
}

export type Frame = { event: string; args?: string[] }

export type TestSocket = {
  readonly frames: Frame[]
  /** The first argument of every frame of one event. */
  readonly texts: (event: string) => (string | undefined)[]
  readonly send: (event: string, ...args: string[]) => void
  readonly closed: Promise<number>
  readonly close: () => void
}

/** Connects to a server's console and sends the token, if there is one. Rejects when the upgrade is refused. */
export async function openSocket(
  daemon: { url: string },
  server: string,
  origin: string | undefined,
  token?: string,
): Promise<TestSocket> {
  const url = `${daemon.url.replace('http', 'ws')}/api/servers/${server}/ws`
  const webSocket = new WebSocket(url, origin === undefined ? {} : { origin })
  const frames: Frame[] = []
  const closed = new Promise<number>((resolve) => webSocket.once('close', resolve))
  webSocket.on('message', (data) => frames.push(JSON.parse((data as Buffer).toString('utf8')) as Frame))
  const send = (event: string, ...args: string[]): void => webSocket.send(JSON.stringify({ event, args }))
  await once(webSocket, 'open')
  if (token !== undefined) send('auth', token)
  return {
    frames,
    texts: (event) => frames.filter((frame) => frame.event === event).map((frame) => frame.args?.[0]),
    send,
    closed,
    close: () => webSocket.close(),
  }
}
