import { mkdir } from 'node:fs/promises'
import { writeConfigurationFiles } from './configuration-files.ts'
import type { Daemon } from './daemon.ts'
import { askToStop, killGame, launchGame, stopGame } from './game-process.ts'
import {
  publishDaemonLine,
  synchronize,
  type GameServer,
  type PowerAction,
  type PowerState,
} from './game-server.ts'
import { describe } from './panel-client.ts'

/** A power action that is impossible now; the text is shown to users who may see daemon errors. */
export class PowerError extends Error {
  readonly busy: boolean
  constructor(message: string, busy = false) {
    super(message)
    this.name = 'PowerError'
    this.busy = busy
  }
}

/** Whether a value names a power action. */
export function isPowerAction(value: unknown): value is PowerAction {
  return value === 'start' || value === 'stop' || value === 'restart' || value === 'kill'
}

/**
 * Runs a power action to its end: a start until the program runs, a stop until it has ended. One action at a
 * time, waiting up to `waitMilliseconds` for the one before; a kill waits for nobody. Refused with a
 * PowerError while the server is installing, being moved or restored, suspended (start, restart) or already
 * running (start).
 */
export async function runPowerAction(
  daemon: Daemon,
  server: GameServer,
  action: PowerAction,
  waitMilliseconds = 0,
): Promise<void> {
  if (server.installation) throw new PowerError('the server is being installed')
  if (server.transfer) throw new PowerError('the server is being moved to another node')
  if (server.restorations.size > 0) throw new PowerError('a backup of the server is being restored')
  if (action === 'kill') return killGame(daemon, server)
  if (!(await server.powerLock.acquire(waitMilliseconds))) {
    throw new PowerError('another power action is under way for this server', true)
  }
  try {
    if (action !== 'start') await stopGame(daemon, server, daemon.settings.stopTimeout)
    if (action !== 'stop') await startGame(daemon, server)
  } finally {
    server.powerLock.release()
  }
}

/** Runs a power action whose failure is only logged. */
export function runPowerActionInBackground(
  daemon: Daemon,
  server: GameServer,
  action: PowerAction,
  waitMilliseconds = 0,
): void {
  runPowerAction(daemon, server, action, waitMilliseconds).catch((error: unknown) =>
    daemon.log(`${server.uuid}: ${action} failed: ${describe(error)}`),
  )
}

/**
 * Asks the program to end once no other power action is under way; false when it still runs, or another action
 * does, after `milliseconds`, of which there are no more than for a stop.
 */
export async function haveStopped(
  daemon: Daemon,
  server: GameServer,
  milliseconds: number,
): Promise<boolean> {
  const wait = Math.min(milliseconds, daemon.settings.stopTimeout)
  if (!(await server.powerLock.acquire(wait))) return false
  try {
    return await askToStop(daemon, server, wait)
  } finally {
    server.powerLock.release()
  }
}

async function startGame(daemon: Daemon, server: GameServer): Promise<void> {
  if (server.state !== 'offline') throw new PowerError('the server is already running')
  await synchronize(daemon, server)
  if (server.suspended) throw new PowerError('the server is suspended')
  publishDaemonLine(daemon, server, 'Writing the configuration files of the server.')
  await mkdir(server.directory, { recursive: true })
  await writeConfigurationFiles(daemon, server)
  publishDaemonLine(daemon, server, 'The files of the server are in place.')
  if (daemon.closing) throw new PowerError('the daemon is stopping')
  await launchGame(daemon, server, (exitCode, before) => handleEnd(daemon, server, exitCode, before))
}

function handleEnd(daemon: Daemon, server: GameServer, exitCode: number, before: PowerState): void {
  if (daemon.closing || server.deleted || (before !== 'starting' && before !== 'running')) return
  if (!server.configuration.crashDetection) {
    publishDaemonLine(daemon, server, 'No automatic restart: crash detection is off for this server.')
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
