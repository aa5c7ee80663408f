import { join } from 'node:path'
import { EnvironmentError, readEnv } from './env.ts'
import type { Bootstrap } from './local/demo.ts'
import { causeOf, log } from '../log.ts'
import { type AnswerVerb, type RunningPanel, startNode } from './node.ts'
import type { Surface } from './serve.ts'

/** Milliseconds after which an orderly end is given up. */
const patience = 35_000
/** Milliseconds within which further signals are the same one: npm sends its children what the terminal sent them, too. */
const echo = 500

/** Runs the panel until the process is told to end, as `endOnSignal` says; what is at fault is said in one message. */
export async function runNode(surfaces: Surface[], answerVerb: AnswerVerb): Promise<void> {
  try {
    const panel = await startNode(process.env, surfaces, answerVerb)
    console.log(panel.bootstrap ? greeting(panel.bootstrap) : `Roost serves at ${panel.url}`)
    endOnSignal(panel)
  } catch (error) {
    console.error(reasonOf(error))
    process.exitCode = 1
  }
}

/** In one message, without the statement that failed and its values. */
function reasonOf(error: unknown): string {
  if (error instanceof EnvironmentError) return error.message
  const isPlain = error instanceof Error && error.cause === undefined && error.message !== ''
  return `The panel does not start: ${isPlain ? error.message : causeOf(error)}`
}

/** The first signal ends the panel orderly and the process with 0; a second one ends it at once with 1. */
function endOnSignal(panel: RunningPanel): void {
  let endingSince: number | null = null
  const end = () => {
    if (endingSince !== null) {
      if (performance.now() - endingSince > echo) process.exit(1)
      return
    }
    endingSince = performance.now()
    log('info', 'The panel ends.')
    setTimeout(() => process.exit(1), patience).unref()
    panel.close().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
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
  ].join('\n')
}
