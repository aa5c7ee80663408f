import { join } from 'node:path'
import { findUnprivilegedUser, isolationWarning } from '../dev/daemon/unprivileged-user.ts'
import { causeOf, log } from '../log.ts'
import { EnvironmentError, readEnv } from './env.ts'
import type { Bootstrap } from './local/demo.ts'
import { missingUrlNotice } from './panel-url.ts'
import { type RpcHandler, type RunningPanel, startNode } from './node.ts'
import type { Surface } from './serve.ts'

/** Milliseconds after which an unfinished shutdown ends with exit code 1. */
const shutdownTimeoutMs = 35_000
/** Milliseconds within which signals count as one: npm repeats those of the terminal to its children. */
const signalDebounceMs = 500

/** Runs the panel until SIGINT or SIGTERM. A failure at the start is one message, and ends the process with 1. */
export async function runNode(surfaces: Surface[], handleRpc: RpcHandler): Promise<void> {
  try {
    const panel = await startNode(process.env, surfaces, handleRpc)
    console.log(panel.bootstrap ? greeting(panel.bootstrap) : plainGreeting(panel))
    const notice = missingUrlNotice(readEnv(process.env), panel.url)
    if (notice !== null) console.log(notice)
    shutDownOnSignal(panel)
  } catch (error) {
    console.error(startupErrorMessage(error))
    // Something that the start has opened may still hold the process.
    process.exit(1)
  }
}

/** Returns the reason of a failed start, without the statement that failed and its values. */
function startupErrorMessage(error: unknown): string {
  if (error instanceof EnvironmentError) return error.message
  const isPlain = error instanceof Error && error.cause === undefined && error.message !== ''
  return `The panel could not start: ${isPlain ? error.message : causeOf(error)}`
}

/** Shuts down with exit code 0 at the first signal. A second one ends the process at once, with exit code 1. */
function shutDownOnSignal(panel: RunningPanel): void {
  let shutdownStartedAt: number | null = null
  const shutDown = () => {
    if (shutdownStartedAt !== null) {
      if (performance.now() - shutdownStartedAt > signalDebounceMs) process.exit(1)
      return
    }
    shutdownStartedAt = performance.now()
    log('info', 'The panel is shutting down.')
    setTimeout(() => process.exit(1), shutdownTimeoutMs).unref()
    panel.close().then(
      () => process.exit(0),
      () => process.exit(1),
    )
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
const plainGreeting = ({ url, hasAdministrator, setupCode }: RunningPanel) =>
  [
    `Roost serves at ${url}`,
    ...(setupCode === null ? [] : setupGreeting(url, setupCode)),
    ...(hasAdministrator || setupCode !== null
      ? []
      : ['There is no administrator yet. Create one:', createCommand]),
  ].join('\n')

const createCommand = '  npm run panel -- user:create --email you@example.com --username you --admin'

const setupGreeting = (url: string, code: string) => [
  'There are no users yet. Set up the panel in a browser, with this code:',
  `  ${url}/auth/setup`,
  `  ${code}`,
  'Or create an administrator with the environment of this process:',
  createCommand,
]
