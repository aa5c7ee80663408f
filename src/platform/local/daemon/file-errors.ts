import type { ErrorHandler } from 'hono'
import type { Daemon, Profile } from './daemon.ts'
import { errorAnswer, type DaemonEnv } from './http-context.ts'
import { describe } from './panel-client.ts'
import { BodyError } from './request-body.ts'

/** A refusal of a file route that has the same status in every release of Wings. */
export class FileError extends Error {
  readonly status: 400 | 403 | 404 | 422
  constructor(status: FileError['status'], message: string) {
    super(message)
    this.name = 'FileError'
    this.status = status
  }
}

/** The system's code of a failure, as `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/** Nothing for what is missing; throws every other failure again. */
export function ignoreMissing(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error
}

/**
 * Answers what a file route throws: 400 for a name that is too long, for what is missing 404, or 500 on 1.11, and
 * 500 for all that Wings does not tell apart. Wings: file routes.
 */
export function answerFileError(daemon: Daemon): ErrorHandler<DaemonEnv> {
  return (error, c) => {
    if (error instanceof BodyError) throw error
    if (error instanceof FileError) return errorAnswer(c, error.status, error.message)
    daemon.log(`${c.req.method} ${c.req.path}: ${describe(error)}`)
    const [status, text] = statusOf(error, daemon.settings.profile)
    return errorAnswer(c, status, text)
  }
}

function statusOf(error: Error, profile: Profile): [400 | 404 | 500, string] {
  const code = systemCode(error)
  if (code === 'ENAMETOOLONG') return [400, 'The name is too long.']
  if (code === 'EISDIR') return [400, 'This is a directory.']
  if (code === 'ENOENT' && profile !== '1.11') return [404, 'There is nothing of this name.']
  return [500, 'The request failed.']
}
