import type { ErrorHandler } from 'hono'
import type { Daemon, Profile } from './daemon.ts'
import { errorResponse, type DaemonEnv } from './http-context.ts'
import { describeError } from './panel-client.ts'
import { BodyError } from './request-body.ts'

/** A refusal of a file route, with the same status in every release of Wings. */
export class FileError extends Error {
  readonly status: 400 | 403 | 404 | 422
  constructor(status: FileError['status'], message: string) {
    super(message)
    this.name = 'FileError'
    this.status = status
  }
}

/** Gives the system's code of an error, such as `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/** Gives undefined for ENOENT and rethrows every other error. */
export function ignoreMissing(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error
}

/**
 * Creates the error handler of the file routes: 400 for a name that is too long, 404 for a missing file (500 on
 * 1.11), and 500 for other errors. Wings: docs/wings.md#file-routes.
 */
export function handleFileErrors(daemon: Daemon): ErrorHandler<DaemonEnv> {
  return (error, c) => {
    if (error instanceof BodyError) throw error
    if (error instanceof FileError) return errorResponse(c, error.status, error.message)
    daemon.log(`${c.req.method} ${c.req.path}: ${describeError(error)}`)
    const [status, text] = statusOf(error, daemon.settings.profile)
    return errorResponse(c, status, text)
  }
}

function statusOf(error: Error, profile: Profile): [400 | 404 | 500, string] {
  const code = systemCode(error)
  if (code === 'ENAMETOOLONG') return [400, 'The name is too long.']
  if (code === 'EISDIR') return [400, 'This is a directory.']
  if (code === 'ENOENT' && profile !== '1.11') return [404, 'The file does not exist.']
  return [500, 'The request failed.']
}
