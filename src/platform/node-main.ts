import { join } from 'node:path'
import { readEnv } from './env.ts'
import type { Bootstrap } from './local/demo.ts'
import { type AnswerVerb, startNode } from './node.ts'
import type { Surface } from './serve.ts'

/** Milliseconds after which an orderly end is given up. */
const patience = 15_000

/** Runs the panel until the process is told to end; what is at fault is said in one message. */
export async function runNode(surfaces: Surface[], answerVerb: AnswerVerb): Promise<void> {
  try {
    const panel = await startNode(process.env, surfaces, answerVerb)
    console.log(panel.bootstrap ? greeting(panel.bootstrap) : `Roost serves at ${panel.url}`)
    const end = () => {
      setTimeout(() => process.exit(1), patience).unref()
      panel.close().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    }
    process.once('SIGINT', end)
    process.once('SIGTERM', end)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
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
