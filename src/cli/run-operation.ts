import { resolve } from 'node:path'
import type { Env } from '../platform/env.ts'
import { sendToControlSocket } from '../platform/local/control-socket.ts'
import { OperationError } from './faults.ts'
import type { RpcRequest, RpcResponse } from './operations.ts'

/** Runs an operation in the process that has the embedded database open, or else in this one. Throws errors for `faultOf`. */
export async function runOperation(env: Env, request: RpcRequest): Promise<unknown> {
  const controlResponse = env.DATABASE_URL ? null : await sendToControlSocket(resolve(env.DATA_DIR), request)
  if (!controlResponse) {
    // Imported when needed: it takes nine tenths of the start of this program.
    const { runLocally } = await import('./run-locally.ts')
    return runLocally(env, request)
  }
  const answer = controlResponse.answer as RpcResponse
  if ('output' in answer) return answer.output
  throw new OperationError(answer.fault.error, answer.fault.issues)
}
