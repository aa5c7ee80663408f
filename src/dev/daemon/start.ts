import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createActivityQueue } from './activity.ts'
import { abortBackgroundWork } from './background-work.ts'
import { bootServers } from './boot.ts'
import {
  buildInitialConfig,
  resolveSettings,
  type Credentials,
  type Daemon,
  type DaemonOptions,
} from './daemon.ts'
import { createDenylist } from './denylist.ts'
import type { Fault } from './faults.ts'
import { stopGame } from './game-process.ts'
import type { GameServer } from './game-server.ts'
import { createHttpApp } from './http-app.ts'
import { createOneTimeTokens } from './one-time-tokens.ts'
import { createPanelClient, describeError } from './panel-client.ts'
import { cancelPulls } from './pulls.ts'
import { openStateFile } from './state-file.ts'
import { acceptWebSockets } from './websocket-upgrade.ts'

const closeGraceMs = 3_000

export type RunningDaemon = {
  readonly url: string
  readonly port: number
  /** Resolves when the servers were fetched from the panel; rejects when the panel refuses the daemon. */
  readonly ready: Promise<void>
  /** The faults to apply, which may be changed at any time. */
  readonly faults: Fault[]
  /** Applies a new node secret to everything, as a restart with a new configuration file does. */
  updateCredentials: (tokenId: string, token: string) => void
  /** Stops all game servers, sockets and calls. Running servers are started again by the next daemon. */
  close: () => Promise<void>
}

/**
 * Starts a daemon that stands in for Wings and runs game servers as local processes below `dataDirectory`. Resolves
 * when it listens; `ready` resolves later, when the panel has answered.
 */
export async function startDaemon(options: DaemonOptions): Promise<RunningDaemon> {
  mkdirSync(options.dataDirectory, { recursive: true })
  const daemon = createDaemon(options)
  const http = createServer(getRequestListener(createHttpApp(daemon).fetch))
  const closeSockets = acceptWebSockets(daemon, http)
  const host = options.host ?? '127.0.0.1'
  http.listen(options.port ?? 0, host)
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  const ready = boot(daemon)
  let closed: Promise<void> | undefined
  // A caller that does not wait for the boot finds its failure in the log.
  ready.catch((error: unknown) => daemon.log(`the daemon did not boot: ${describeError(error)}`))
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    ready,
    faults: daemon.faults,
    updateCredentials: (tokenId, token) => {
      Object.assign(daemon.config, { token_id: tokenId, token })
      daemon.credentials.inbound = { token }
      daemon.credentials.outbound = { tokenId, token }
    },
    close: () => (closed ??= closeDaemon(daemon, http, closeSockets)),
  }
}

function createDaemon(options: DaemonOptions): Daemon {
  const settings = resolveSettings(options)
  const log = options.log ?? (() => {})
  rmSync(settings.spoolDirectory, { recursive: true, force: true })
  mkdirSync(settings.spoolDirectory)
  const faults = options.faults ?? []
  const credentials: Credentials = {
    inbound: { token: options.token },
    outbound: { tokenId: options.tokenId, token: options.token },
  }
  const panel = createPanelClient(settings, credentials, faults)
  return {
    settings,
    credentials,
    config: buildInitialConfig(options),
    booted: false,
    closing: false,
    servers: new Map(),
    panel,
    denylist: createDenylist(Date.now(), settings.profile),
    oneTimeTokens: createOneTimeTokens(),
    activity: createActivityQueue(panel, settings.dataDirectory, log),
    states: openStateFile(settings.dataDirectory),
    faults,
    log,
  }
}

async function boot(daemon: Daemon): Promise<void> {
  await bootServers(daemon)
  if (!daemon.closing) daemon.activity.start(daemon.settings.activityInterval)
}

async function closeDaemon(daemon: Daemon, http: Server, closeSockets: () => void): Promise<void> {
  daemon.closing = true
  daemon.states.freeze()
  daemon.panel.abort()
  await Promise.all([...daemon.servers.values()].map((server) => closeServer(daemon, server)))
  closeSockets()
  await daemon.activity.close()
  http.closeAllConnections()
  if (http.listening) await new Promise((resolve) => http.close(resolve))
}

async function closeServer(daemon: Daemon, server: GameServer): Promise<void> {
  server.installation?.kill()
  server.transfer?.abort()
  await cancelPulls(server)
  await abortBackgroundWork([...server.backups, ...server.restorations])
  await server.installation?.ended
  await server.transfer?.ended
  await stopGame(daemon, server, closeGraceMs)
  // A power action that is still running may have started the process meanwhile.
  await server.powerLock.run(closeGraceMs, async () => {})
  await stopGame(daemon, server, closeGraceMs)
}
