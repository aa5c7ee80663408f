import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BackgroundWork } from './background-work.ts'
import { daemonLine, keepLine } from './console-output.ts'
import type { Daemon } from './daemon.ts'
import type { GameProcess } from './game-process.ts'
import { createPowerLock, type PowerLock } from './power-lock.ts'
import { decodeServerConfiguration, type ServerConfiguration } from './server-configuration.ts'

export type PowerState = 'offline' | 'starting' | 'running' | 'stopping'

export type PowerAction = 'start' | 'stop' | 'restart' | 'kill'

/** An event as sockets receive it. */
export type ServerEvent = { event: string; args?: string[] }

/** A connected socket, as far as the rest of the daemon needs it. */
export type ConnectedSocket = {
  user: () => string | undefined
  /** Ends the connection: with a close frame when a code is given, else abruptly. */
  close: (code?: number, reason?: string) => void
}

/** Resource use in Wings' units: bytes, percent of one core, milliseconds. */
export type Usage = { memory: number; cpu: number; uptime: number; disk: number }

/** An installation under way; `ended` never rejects. */
export type Installation = { kill: () => void; ended: Promise<void> }

/** A move of the server from or to this node; `ended` never rejects. */
export type ServerTransfer = {
  direction: 'incoming' | 'outgoing'
  abort: () => void
  ended: Promise<void>
}

/** A download under way, of which `progress` (0 to 1) is done; `ended` rejects when it fails. */
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
  /** Files on their way from elsewhere, by identifier. */
  pulls: Map<string, Pull>
  /** Backups that are being made. */
  backups: Set<BackgroundWork>
  /** Backups that are being restored. */
  restorations: Set<BackgroundWork>
  powerLock: PowerLock
  lastCrashAt: number | undefined
  sockets: Set<ConnectedSocket>
  listeners: Set<(event: ServerEvent) => void>
}

/** Makes a server known to the daemon; its folder exists afterwards. */
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

/** Fetches and decodes a server's configuration; throws when the panel refuses or sends a wrong shape. */
export async function fetchConfiguration(daemon: Daemon, uuid: string): Promise<ServerConfiguration> {
  return decodeServerConfiguration(await daemon.panel.get(`/servers/${uuid}`))
}

/** Takes over the panel's present configuration of a server. Wings: sync. */
export async function synchronize(daemon: Daemon, server: GameServer): Promise<void> {
  server.configuration = await fetchConfiguration(daemon, server.uuid)
  server.suspended = server.configuration.suspended || server.deleted
}

/** Sends an event to every socket of the server. */
export function publish(server: GameServer, event: string, ...args: string[]): void {
  for (const listener of server.listeners) listener({ event, args })
}

/** Records a line of the game's own output and shows it. */
export function publishConsoleLine(server: GameServer, line: string): void {
  keepLine(server.lines, line)
  publish(server, 'console output', line)
}

/** Shows a line of the daemon; it is not part of the game's log. */
export function publishDaemonLine(daemon: Daemon, server: GameServer, message: string): void {
  publish(server, 'console output', daemonLine(String(daemon.config['app_name']), message))
}

/** Moves a server to a state, tells its sockets and remembers it for the next start of the daemon. */
export function setState(daemon: Daemon, server: GameServer, state: PowerState): void {
  if (server.state === state) return
  server.state = state
  publish(server, 'status', state)
  if (!server.deleted) daemon.states.record(server.uuid, state)
}

/** The resource report of the HTTP API and of the `stats` event. */
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

/** The limit a container would get: decimal megabytes plus Wings' overhead for small servers. */
function memoryLimitBytes(megabytes: number): number {
  const overhead = megabytes <= 2_048 ? 1.15 : megabytes <= 4_096 ? 1.1 : 1.05
  return Math.round(megabytes * 1_000_000 * overhead)
}
