import { startProcess, type LocalProcess } from './child-process.ts'
import { createDoneMatcher } from './console-output.ts'
import type { Daemon } from './daemon.ts'
import { buildProcessEnvironment, expandInvocation } from './environment.ts'
import { publishConsoleLine, publishStats, setState, type GameServer } from './game-server.ts'
import { removeProcessRecord, recordProcess } from './orphans.ts'
import { readDirectorySize, readProcessUsage } from './process-usage.ts'

/** The running process of a game server. */
export type GameProcess = {
  readonly local: LocalProcess
  /** Resolves when the server is offline again. */
  readonly ended: Promise<void>
}

const statsIntervalMs = 1_000
const diskIntervalMs = 30_000

/**
 * Starts the server's process and sets the state to `starting`, to `running` at a line that means it has started, and
 * to `offline` when it ends; then calls `onEnd` with the exit code and the previous state. Rejects, with the server
 * offline, when the process cannot be started.
 */
export async function launchGame(
  daemon: Daemon,
  server: GameServer,
  onEnd: (exitCode: number, before: GameServer['state']) => void,
): Promise<void> {
  const { configuration } = server
  const isDone = createDoneMatcher(configuration.done, configuration.stripAnsi)
  server.lines = []
  setState(daemon, server, 'starting')
  try {
    const local = await startProcess({
      command: 'sh',
      args: ['-c', shellCommand(expandInvocation(configuration, server.directory))],
      directory: server.directory,
      environment: buildProcessEnvironment(configuration, server.directory),
      onLine: (line) => {
        publishConsoleLine(server, line)
        if (server.state === 'starting' && isDone(line)) setState(daemon, server, 'running')
      },
    })
    if (server.deleted || daemon.closing) local.signal('SIGKILL')
    recordProcess(daemon.settings.dataDirectory, server.uuid, local.pid)
    const stopStats = reportStats(server, local)
    const ended = local.ended.then((exitCode) => {
      stopStats()
      removeProcessRecord(daemon.settings.dataDirectory, server.uuid)
      const before = server.state
      server.process = undefined
      server.usage = { ...server.usage, memory: 0, cpu: 0, uptime: 0 }
      setState(daemon, server, 'offline')
      publishStats(server)
      onEnd(exitCode, before)
    })
    server.process = { local, ended }
  } catch (error) {
    setState(daemon, server, 'offline')
    throw error
  }
}

/** Builds the shell's command. A simple one replaces the shell, so that signals and stdin reach the program. */
function shellCommand(invocation: string): string {
  return /[;|&\n]/.test(invocation) ? invocation : `exec env ${invocation}`
}

function reportStats(server: GameServer, local: LocalProcess): () => void {
  const startedAt = Date.now()
  let before = { at: startedAt, cpuSeconds: 0 }
  let stopped = false
  const timer = setInterval(() => void sample(), statsIntervalMs).unref()

  async function sample(): Promise<void> {
    const { memory, cpuSeconds } = await readProcessUsage(local.pid)
    if (stopped) return
    const now = Date.now()
    const cpu = ((cpuSeconds - before.cpuSeconds) / Math.max(1, now - before.at)) * 100_000
    before = { at: now, cpuSeconds }
    server.usage = {
      ...server.usage,
      memory,
      cpu: Math.max(0, Math.round(cpu * 1_000) / 1_000),
      uptime: now - startedAt,
    }
    void refreshDiskUsage(server)
    publishStats(server)
  }

  return () => {
    stopped = true
    clearInterval(timer)
  }
}

const measuredAt = new WeakMap<GameServer, number>()

/** Measures the size of the server's folder, at most every 30 seconds. */
export async function refreshDiskUsage(server: GameServer): Promise<void> {
  if (Date.now() - (measuredAt.get(server) ?? 0) < diskIntervalMs) return
  measuredAt.set(server, Date.now())
  const disk = await readDirectorySize(server.directory)
  server.usage = { ...server.usage, disk }
}

/** Writes a command to the process. The stop command sets the state to `stopping`. */
export function sendCommand(daemon: Daemon, server: GameServer, command: string): void {
  const { stop } = server.configuration
  if (!server.process) return
  if (stop.type === 'command' && command === stop.value) setState(daemon, server, 'stopping')
  server.process.local.write(`${command}\n`)
}

/** Signals the process to end as `process_configuration.stop` says; without a stop configuration it is killed. */
function requestStop(daemon: Daemon, server: GameServer): void {
  const { stop } = server.configuration
  const local = server.process?.local
  if (!local) return
  setState(daemon, server, 'stopping')
  if (stop.type === 'command') local.write(`${stop.value}\n`)
  else if (stop.type === 'stop') local.signal('SIGTERM')
  else local.signal(stop.type === 'signal' ? stopSignal(stop.value) : 'SIGKILL')
}

function stopSignal(value: string): NodeJS.Signals {
  return value === 'SIGINT' || value === 'SIGTERM' || value === 'SIGABRT' ? value : 'SIGKILL'
}

/** Stops the process and kills it when it still runs after `timeoutMs`. Resolves when it has ended. */
export async function stopGame(daemon: Daemon, server: GameServer, timeoutMs: number): Promise<void> {
  const { process } = server
  if (!process) return
  requestStop(daemon, server)
  const timer = setTimeout(() => process.local.signal('SIGKILL'), timeoutMs).unref()
  await process.ended
  clearTimeout(timer)
}

/** Stops the process without killing it; false when it still runs after `timeoutMs`. */
export async function stopAndWait(daemon: Daemon, server: GameServer, timeoutMs: number): Promise<boolean> {
  const { process } = server
  if (!process) return true
  requestStop(daemon, server)
  const { promise: timedOut, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), timeoutMs).unref()
  const hasEnded = await Promise.race([process.ended.then(() => true), timedOut])
  clearTimeout(timer)
  return hasEnded
}

/** Kills the process. Resolves when it has ended. */
export async function killGame(daemon: Daemon, server: GameServer): Promise<void> {
  const { process } = server
  if (!process) return
  setState(daemon, server, 'stopping')
  process.local.signal('SIGKILL')
  await process.ended
}
