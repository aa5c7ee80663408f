import { startProcess, type LocalProcess } from './child-process.ts'
import { createDoneMatcher } from './console-output.ts'
import type { Daemon } from './daemon.ts'
import { buildProcessEnvironment, expandInvocation } from './environment.ts'
import { publishConsoleLine, publishStats, setState, type GameServer } from './game-server.ts'
import { forgetProcess, noteProcess } from './orphans.ts'
import { readDirectorySize, readProcessUsage } from './process-usage.ts'

/** The running program of a game server. */
export type GameProcess = {
  readonly local: LocalProcess
  /** Resolves when the server is offline again. */
  readonly ended: Promise<void>
}

const statsInterval = 1_000
const diskInterval = 30_000

/**
 * Starts the server's program and moves the server to `starting`, later to `running` at a line that means
 * "started", and to `offline` when it ends; then `onEnd` gets the exit code and the state before.
 * Rejects, with the server offline, when the program cannot be started.
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
    noteProcess(daemon.settings.dataDirectory, server.uuid, local.pid)
    const stopStats = reportStats(server, local)
    const ended = local.ended.then((exitCode) => {
      stopStats()
      forgetProcess(daemon.settings.dataDirectory, server.uuid)
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

/** A simple command replaces the shell, so that signals and the standard input reach the program itself. */
function shellCommand(invocation: string): string {
  return /[;|&\n]/.test(invocation) ? invocation : `exec env ${invocation}`
}

function reportStats(server: GameServer, local: LocalProcess): () => void {
  const startedAt = Date.now()
  let before = { at: startedAt, cpuSeconds: 0 }
  let stopped = false
  const timer = setInterval(() => void sample(), statsInterval).unref()

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

/** Measures the server's folder, at most every 30 s. */
export async function refreshDiskUsage(server: GameServer): Promise<void> {
  if (Date.now() - (measuredAt.get(server) ?? 0) < diskInterval) return
  measuredAt.set(server, Date.now())
  const disk = await readDirectorySize(server.directory)
  server.usage = { ...server.usage, disk }
}

/** Writes a command to the program; the text of the stop command moves the server to `stopping`. */
export function sendCommand(daemon: Daemon, server: GameServer, command: string): void {
  const { stop } = server.configuration
  if (!server.process) return
  if (stop.type === 'command' && command === stop.value) setState(daemon, server, 'stopping')
  server.process.local.write(`${command}\n`)
}

/** Asks the program to end as `process_configuration.stop` says; no stop configuration means a kill. */
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

/** Stops the program; one that still runs after `milliseconds` is killed. Resolves when it has ended. */
export async function stopGame(daemon: Daemon, server: GameServer, milliseconds: number): Promise<void> {
  const { process } = server
  if (!process) return
  requestStop(daemon, server)
  const timer = setTimeout(() => process.local.signal('SIGKILL'), milliseconds).unref()
  await process.ended
  clearTimeout(timer)
}

/** Asks the program to end and waits; false when it still runs after `milliseconds`. */
export async function askToStop(daemon: Daemon, server: GameServer, milliseconds: number): Promise<boolean> {
  const { process } = server
  if (!process) return true
  requestStop(daemon, server)
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), milliseconds).unref()
  const hasEnded = await Promise.race([process.ended.then(() => true), late])
  clearTimeout(timer)
  return hasEnded
}

/** Ends the program at once. Resolves when it has ended. */
export async function killGame(daemon: Daemon, server: GameServer): Promise<void> {
  const { process } = server
  if (!process) return
  setState(daemon, server, 'stopping')
  process.local.signal('SIGKILL')
  await process.ended
}
