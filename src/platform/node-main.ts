import cluster from 'node:cluster'
import { join } from 'node:path'
import { findUnprivilegedUser, isolationWarning } from '../dev/daemon/unprivileged-user.ts'
import { causeOf, log, setLogLevel } from '../log.ts'
import { commandOf } from './command-names.ts'
import { type Env, EnvironmentError, readEnv } from './env.ts'
import { openDataDirectory } from './local/data-directory.ts'
import type { Bootstrap } from './local/demo.ts'
import type { OpenMoveInHost } from './move-in-host.ts'
import { missingUrlNotice } from './panel-url.ts'
import { type RpcHandler, type RunningPanel, startNode } from './node.ts'
import { processCount } from './process-count.ts'
import {
  type EndMessage,
  firstProcessVariable,
  isMessage,
  ping,
  type ReadyMessage,
} from './process-messages.ts'
import { findServiceManager, type ServiceManager } from './service-manager.ts'
import { superviseProcesses, type Supervisor } from './supervisor.ts'
import type { Surface } from './serve.ts'

/** Milliseconds after which an unfinished shutdown ends with exit code 1. */
const shutdownTimeoutMs = 35_000
/** Milliseconds within which signals count as one: npm repeats those of the terminal to its children. */
const signalDebounceMs = 500

/** Runs the panel until SIGINT or SIGTERM. A failure at the start is one message, and ends the process with 1. */
export async function runNode(
  surfaces: Surface[],
  handleRpc: RpcHandler,
  openMoveIn?: OpenMoveInHost,
): Promise<void> {
  try {
    const env = readEnv(process.env)
    if (cluster.isWorker) return await runAsOneOfSeveral(surfaces, handleRpc, openMoveIn)
    const manager = findServiceManager(process.env)
    if (processCount(env) > 1) return await runSeveral(env, manager)
    const stopEnding = endOnSignal()
    const { panel, close } = await startRestartable(surfaces, handleRpc, openMoveIn)
    // Before anything is printed: who reads it may send a signal.
    shutDownOnSignal(close, manager)
    stopEnding()
    console.log(panel.bootstrap ? greeting(panel.bootstrap) : plainGreeting(panel))
    printNotice(env, panel.url)
    if (manager) process.on('SIGHUP', explainNoReload)
    await manager?.ready(async () => true)
  } catch (error) {
    console.error(startupErrorMessage(error))
    // Something that the start has opened may still hold the process.
    process.exit(1)
  }
}

/** Starts the panel in this process, and anew once the disk of its data is another one. `close` ends the one that runs. */
async function startRestartable(
  surfaces: Surface[],
  handleRpc: RpcHandler,
  openMoveIn: OpenMoveInHost | undefined,
): Promise<{ panel: RunningPanel; close: () => Promise<void> }> {
  let isEnding = false
  let running: Promise<RunningPanel>
  const start = () =>
    startNode(process.env, surfaces, handleRpc, { openMoveIn, onRemounted: () => void restart() })
  const restart = async () => {
    log('warn', 'Another disk is mounted in DATA_DIR: the panel starts anew on it.')
    try {
      const ended = await running
      running = ended.close().then(() => {
        if (isEnding) throw new Error('It was ended meanwhile.')
        return start()
      })
      await running
      log('info', 'The panel serves again.')
    } catch (error) {
      if (isEnding) return
      console.error(startupErrorMessage(error))
      process.exit(1)
    }
  }
  running = start()
  return {
    panel: await running,
    close: async () => {
      isEnding = true
      const panel = await running.catch(() => null)
      await panel?.close()
    },
  }
}

/** Returns the reason of a failed start, without the statement that failed and its values. */
function startupErrorMessage(error: unknown): string {
  if (error instanceof EnvironmentError) return error.message
  const isPlain = error instanceof Error && error.cause === undefined && error.message !== ''
  return `The panel could not start: ${isPlain ? error.message : causeOf(error)}`
}

/** Starts the processes, which share the data directory that this one locks, and replaces them at SIGHUP and SIGUSR2. */
async function runSeveral(env: Env, manager: ServiceManager | null): Promise<void> {
  setLogLevel(env.LOG_LEVEL)
  const directory = await openDataDirectory(env.DATA_DIR)
  const supervisor = superviseProcesses(processCount(env))
  const end = async () => {
    await supervisor.end()
    await directory.release()
  }
  // Also during the start, which may wait for the database.
  shutDownOnSignal(end, manager)
  try {
    const ready = await supervisor.started
    // Before anything is printed: who reads it may send a signal.
    replaceOnSignal(supervisor, manager)
    console.log(plainGreeting(ready))
    printNotice(env, ready.url)
  } catch {
    // The process that failed has said why.
    await end()
    process.exit(1)
  }
  await manager?.ready(supervisor.isAlive)
}

/** Replaces the processes one after the other at SIGUSR2 and, outside of a terminal, SIGHUP. */
function replaceOnSignal(supervisor: Supervisor, manager: ServiceManager | null): void {
  const renew = () => void (manager ? manager.whileReloading(() => supervisor.renew()) : supervisor.renew())
  process.on('SIGUSR2', renew)
  // A terminal sends it when it is closed.
  if (!process.stdout.isTTY) process.on('SIGHUP', renew)
}

/** `systemctl reload` sends SIGHUP, which would end the process. */
const explainNoReload = () =>
  log(
    'warn',
    'A single process cannot be replaced without a pause: set PROCESSES to 2 or more, or restart it.',
  )

/** Runs one process of several until the one that started it says that it has to end, or has ended itself. */
async function runAsOneOfSeveral(
  surfaces: Surface[],
  handleRpc: RpcHandler,
  openMoveIn: OpenMoveInHost | undefined,
): Promise<void> {
  // A terminal sends its signals to all processes, and a service manager may.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const)
    process.on(signal, () => undefined)
  const role = process.env[firstProcessVariable] === undefined ? 'further' : 'first'
  let panel: RunningPanel | null = null
  // Also during the start, which may wait for the database.
  process.on('message', (message) => {
    if (isMessage(message, ping.kind)) process.send?.(ping)
    if (isMessage(message, 'end')) endProcess(async () => panel?.close(message as EndMessage))
  })
  panel = await startNode(process.env, surfaces, handleRpc, { role, openMoveIn })
  const { url, hasAdministrator, setupCode } = panel
  process.send?.({ kind: 'ready', url, hasAdministrator, setupCode } satisfies ReadyMessage)
}

function printNotice(env: Env, url: string): void {
  const notice = missingUrlNotice(env, url)
  if (notice !== null) console.log(notice)
}

/** Ends the process once all is closed, with exit code 0, or 1 when that fails or takes too long. */
function endProcess(close: () => Promise<void>): void {
  setTimeout(() => process.exit(1), shutdownTimeoutMs).unref()
  close().then(
    () => process.exit(0),
    () => process.exit(1),
  )
}

/**
 * Ends the process with exit code 0 at a signal, until the returned function is called: a start may wait for its
 * database, and a process with the id 1, as in a container, would ignore the signal.
 */
function endOnSignal(): () => void {
  const end = () => process.exit(0)
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.on(signal, end)
  return () => {
    for (const signal of signals) process.off(signal, end)
  }
}

/** Shuts down with exit code 0 at the first signal. A second one ends the process at once, with exit code 1. */
function shutDownOnSignal(close: () => Promise<void>, manager: ServiceManager | null): void {
  let shutdownStartedAt: number | null = null
  const shutDown = () => {
    if (shutdownStartedAt !== null) {
      if (performance.now() - shutdownStartedAt > signalDebounceMs) process.exit(1)
      return
    }
    shutdownStartedAt = performance.now()
    log('info', 'The panel is shutting down.')
    manager?.stopping()
    endProcess(close)
  }
  process.on('SIGINT', shutDown)
  process.on('SIGTERM', shutDown)
}

function greeting({ url, admin, user, server }: Bootstrap): string {
  const file = join(readEnv(process.env).DATA_DIR, 'bootstrap.json')
  return [
    '',
    `  Roost serves at ${url}`,
    '',
    `  administrator  ${admin.username}  ${admin.password}`,
    `  player         ${user.username}  ${user.password}`,
    `  demo server    ${server.identifier}  (owned by the player)`,
    `  API keys       in ${file}`,
    '',
    `  ${isolationWarning(findUnprivilegedUser())}`,
    '',
  ].join('\n')
}

/** Says where the panel is, and how to make its first administrator. */
const plainGreeting = ({ url, hasAdministrator, setupCode }: Omit<ReadyMessage, 'kind'>) =>
  [
    `Roost serves at ${url}`,
    ...(setupCode === null ? [] : setupGreeting(url, setupCode)),
    ...(hasAdministrator || setupCode !== null
      ? []
      : ['There is no administrator yet. Create one:', createCommand]),
  ].join('\n')

const createCommand = `  ${commandOf('panel', 'user:create --email you@example.com --username you --admin')}`

const setupGreeting = (url: string, code: string) => [
  'There are no users yet. Set up the panel in a browser, with this code:',
  `  ${url}/auth/setup`,
  `  ${code}`,
  'Or create an administrator with the environment of this process:',
  createCommand,
]
