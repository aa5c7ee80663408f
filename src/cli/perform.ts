import { resolve } from 'node:path'
import type { Env } from '../platform/env.ts'
import { askControlSocket } from '../platform/local/control-socket.ts'
import { VerbError } from './faults.ts'
import type { Asked, Told } from './verbs.ts'

/**
 * Does what is asked: in the process that has the embedded database open, when there is one, else in
 * this one. Throws what `faultOf` puts in words.
 */
export async function perform(env: Env, asked: Asked): Promise<unknown> {
  const told = env.DATABASE_URL ? null : await askControlSocket(resolve(env.DATA_DIR), asked)
  if (!told) {
    // Nine tenths of the time it takes to load this program, and often not needed.
    const { performHere } = await import('./own-panel.ts')
    return performHere(env, asked)
  }
  const answer = told.answer as Told
  if ('output' in answer) return answer.output
  throw new VerbError(answer.fault.error, answer.fault.issues)
}
