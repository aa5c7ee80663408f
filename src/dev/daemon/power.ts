import { mkdir } from 'node:fs/promises'
import { writeConfigurationFiles } from './configuration-files.ts'
import type { Daemon } from './daemon.ts'
import { stopAndWait, killGame, launchGame, stopGame } from './game-process.ts'
import {
  publishDaemonLine,
  synchronize,
  type GameServer,
  type PowerAction,
  type PowerState,
} from './game-server.ts'
import { describeError } from './panel-client.ts'
import { otherRuntimeMessage } from './runtime.ts'

/** A power action that is not possible now; the message is shown to users who may see errors of the daemon. */
export class PowerError extends Error {
  readonly busy: boolean
  constructor(message: string, busy = false) {
    super(message)
    this.name = 'PowerError'
    this.busy = busy
  }
}

/** Checks whether a value is a power action. */
export function isPowerAction(value: unknown): value is PowerAction {
  return value === 'start' || value === 'stop' || value === 'restart' || value === 'kill'
}

/**
 * Runs a power action to its end: a start until the process runs, a stop until it has ended. Actions run one at a
 * time and wait up to `maxWaitMs` for the previous one; a kill does not wait. Throws a PowerError while the server is
 * being installed, transferred or restored, is suspended, has an egg for containers (start, restart), or is already
 * running (start).
 */
export async function runPowerAction(
  daemon: Daemon,
  server: GameServer,
  action: PowerAction,
  maxWaitMs = 0,
): Promise<void> {
  if (server.installation) throw new PowerError('the server is being installed')
  if (server.transfer) throw new PowerError('the server is being transferred')
  if (server.restorations.size > 0) throw new PowerError('a backup of the server is being restored')
  if (action === 'kill') return killGame(daemon, server)
  const hasRun = await server.powerLock.run(maxWaitMs, async () => {
    if (action !== 'start') await stopGame(daemon, server, daemon.settings.stopTimeout)
    if (action !== 'stop') await startGame(daemon, server)
  })
  if (!hasRun) throw new PowerError('another power action is running for this server', true)
}

/** Runs a power action and only logs its failure. */
export function runPowerActionInBackground(
  daemon: Daemon,
  server: GameServer,
  action: PowerAction,
  maxWaitMs = 0,
): void {
  runPowerAction(daemon, server, action, maxWaitMs).catch((error: unknown) =>
    daemon.log(`${server.uuid}: ${action} failed: ${describeError(error)}`),
  )
}

/**
 * Stops the process without killing it, as a power action of its own. False when another power action or the process
 * still runs after `timeoutMs`, which is at most the daemon's timeout for stops.
 */
export async function stopWithin(daemon: Daemon, server: GameServer, timeoutMs: number): Promise<boolean> {
  const maxWaitMs = Math.min(timeoutMs, daemon.settings.stopTimeout)
  let hasStopped = false
  await server.powerLock.run(maxWaitMs, async () => {
    hasStopped = await stopAndWait(daemon, server, maxWaitMs)
  })
  return hasStopped
}

async function startGame(daemon: Daemon, server: GameServer): Promise<void> {
  if (server.state !== 'offline') throw new PowerError('the server is already running')
  await synchronize(daemon, server)
  if (server.suspended) throw new PowerError('the server is suspended')
  if (!server.configuration.hasLocalRuntime) {
    publishDaemonLine(daemon, server, otherRuntimeMessage)
    throw new PowerError(otherRuntimeMessage)
  }
  publishDaemonLine(daemon, server, 'Writing the configuration files of the server.')
  await mkdir(server.directory, { recursive: true })
  await writeConfigurationFiles(daemon, server)
  publishDaemonLine(daemon, server, 'The configuration files of the server are written.')
  if (daemon.closing) throw new PowerError('the daemon is stopping')
  await launchGame(daemon, server, (exitCode, before) => handleEnd(daemon, server, exitCode, before))
}

function handleEnd(daemon: Daemon, server: GameServer, exitCode: number, before: PowerState): void {
  if (daemon.closing || server.deleted || (before !== 'starting' && before !== 'running')) return
  if (!server.configuration.crashDetection) {
    publishDaemonLine(daemon, server, 'No automatic restart: crash detection is disabled for this server.')
    return
  }
  publishDaemonLine(daemon, server, '---------- The server process ended unexpectedly ----------')
  publishDaemonLine(daemon, server, `Exit code: ${exitCode}`)
  publishDaemonLine(daemon, server, 'Out of memory: false')
  const { crashTimeout } = daemon.settings
  if (server.lastCrashAt !== undefined && Date.now() - server.lastCrashAt < crashTimeout) {
    const seconds = Math.round(crashTimeout / 1_000)
    publishDaemonLine(
      daemon,
      server,
      `No automatic restart: the last crash was less than ${seconds} seconds ago.`,
    )
    return
  }
  server.lastCrashAt = Date.now()
  runPowerActionInBackground(daemon, server, 'start')
}
