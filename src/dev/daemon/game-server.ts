import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BackgroundWork } from './background-work.ts'
import { daemonLine, appendLine } from './console-output.ts'
import type { Daemon } from './daemon.ts'
import type { GameProcess } from './game-process.ts'
import { createPowerLock, type PowerLock } from './power-lock.ts'
import { decodeServerConfiguration, type ServerConfiguration } from './server-configuration.ts'
import { pushState } from './status-push.ts'

export type PowerState = 'offline' | 'starting' | 'running' | 'stopping'

export type PowerAction = 'start' | 'stop' | 'restart' | 'kill'

/** An event as sockets receive it. */
export type ServerEvent = { event: string; args?: string[] }

/** A connected console socket. */
export type ConnectedSocket = {
  user: () => string | undefined
  /** Closes the connection, without a close frame when no code is given. */
  close: (code?: number, reason?: string) => void
}

/** Resource use in Wings' units: bytes, percent of one core, milliseconds. */
export type Usage = { memory: number; cpu: number; uptime: number; disk: number }

/** A running installation; `ended` never rejects. */
export type Installation = { kill: () => void; ended: Promise<void> }

/** A running transfer from or to this node; `ended` never rejects. */
export type ServerTransfer = {
  direction: 'incoming' | 'outgoing'
  abort: () => void
  ended: Promise<void>
}

/** A running pull; `progress` goes from 0 to 1. `ended` gives the path and rejects when the pull fails. */
export type Pull = { identifier: string; progress: number; cancel: () => void; ended: Promise<string> }

export type GameServer = {
  readonly uuid: string
  readonly directory: string
  configuration: ServerConfiguration
  suspended: boolean
  deleted: boolean
  state: PowerState
  process: GameProcess | undefined
  lines: string[]
  usage: Usage
  installation: Installation | undefined
  transfer: ServerTransfer | undefined
  /** Running pulls by their identifiers. */
  pulls: Map<string, Pull>
  /** Backups that are being created. */
  backups: Set<BackgroundWork>
  /** Backups that are being restored. */
  restorations: Set<BackgroundWork>
  powerLock: PowerLock
  lastCrashAt: number | undefined
  sockets: Set<ConnectedSocket>
  listeners: Set<(event: ServerEvent) => void>
}

/** Adds a server to the daemon and creates its folder. */
export function registerServer(daemon: Daemon, configuration: ServerConfiguration): GameServer {
  const { uuid } = configuration
  const server: GameServer = {
    uuid,
    directory: join(daemon.settings.dataDirectory, 'volumes', uuid),
    configuration,
    suspended: configuration.suspended,
    deleted: false,
    state: 'offline',
    process: undefined,
    lines: [],
    usage: { memory: 0, cpu: 0, uptime: 0, disk: 0 },
    installation: undefined,
    transfer: undefined,
    pulls: new Map(),
    backups: new Set(),
    restorations: new Set(),
    powerLock: createPowerLock(),
    lastCrashAt: undefined,
    sockets: new Set(),
    listeners: new Set(),
  }
  mkdirSync(server.directory, { recursive: true })
  daemon.servers.set(uuid, server)
  return server
}

/** Fetches and decodes a server's configuration. Rejects when the panel refuses or the configuration is invalid. */
export async function fetchConfiguration(daemon: Daemon, uuid: string): Promise<ServerConfiguration> {
  return decodeServerConfiguration(await daemon.panel.get(`/servers/${uuid}`))
}

/** Applies the panel's present configuration of a server. Wings: POST …/sync */
export async function synchronize(daemon: Daemon, server: GameServer): Promise<void> {
  server.configuration = await fetchConfiguration(daemon, server.uuid)
  server.suspended = server.configuration.suspended || server.deleted
}

/** Sends an event to every socket of the server. */
export function publish(server: GameServer, event: string, ...args: string[]): void {
  for (const listener of server.listeners) listener({ event, args })
}

/** Publishes a line of the game's output and adds it to the server's log. */
export function publishConsoleLine(server: GameServer, line: string): void {
  appendLine(server.lines, line)
  publish(server, 'console output', line)
}

/** Publishes a line of the daemon, which is not part of the server's log. */
export function publishDaemonLine(daemon: Daemon, server: GameServer, message: string): void {
  publish(server, 'console output', daemonLine(String(daemon.config['app_name']), message))
}

/** Sets the state of a server, publishes it, records it for the next start of the daemon, and pushes it to the panel. */
export function setState(daemon: Daemon, server: GameServer, state: PowerState): void {
  const previous = server.state
  if (previous === state) return
  server.state = state
  publish(server, 'status', state)
  if (!server.deleted) daemon.states.record(server.uuid, state)
  pushState(daemon, server, previous, state)
}

/** Builds the resource report of the HTTP API and of the `stats` event. */
export function describeUsage(server: GameServer): Record<string, unknown> {
  return {
    memory_bytes: server.usage.memory,
    memory_limit_bytes: memoryLimitBytes(server.configuration.memoryLimit),
    cpu_absolute: server.usage.cpu,
    network: { rx_bytes: 0, tx_bytes: 0 },
    uptime: server.usage.uptime,
    state: server.state,
    disk_bytes: server.usage.disk,
  }
}

/** Publishes the resource report to the server's sockets. */
export function publishStats(server: GameServer): void {
  publish(server, 'stats', JSON.stringify(describeUsage(server)))
}

/** Computes the limit of a container: decimal megabytes plus the overhead that Wings adds to small servers. */
function memoryLimitBytes(megabytes: number): number {
  const overhead = megabytes <= 2_048 ? 1.15 : megabytes <= 4_096 ? 1.1 : 1.05
  return Math.round(megabytes * 1_000_000 * overhead)
}
