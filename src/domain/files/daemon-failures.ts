import { DaemonError } from '../../adapters/daemon-error.ts'
import { ApiError, forbidden, type Reason, type ReasonValues } from '../../errors.ts'
import { toDaemonApiError } from '../nodes/daemon-errors.ts'

/**
 * Converts the failure of a call that touches files, as `toDaemonApiError` does, to be thrown. A 403 that names
 * the denylist stays a 403: the daemon's copy of the egg may be another one. Wings: docs/wings.md#denylist.
 */
export function toFileApiError(error: unknown): unknown {
  if (error instanceof DaemonError && error.status === 403 && /denylist/i.test(error.message)) {
    return forbidden('file_protected', 'The egg of the server protects this file.')
  }
  return toDaemonApiError(error)
}

/** Whether the daemon answered 500, as older ones do for an entry that is missing or of another type. */
export const isInternalDaemonError = (error: unknown): boolean =>
  error instanceof DaemonError && error.status === 500

/** What was done before something failed, as a sentence and as its reason. */
type Context = { detail: string; reason: Reason; values: ReasonValues }

/** Creates a copy of an error whose details begin with `context`. */
export const withContext = ({ detail, ...before }: Context, error: ApiError): ApiError =>
  new ApiError(
    error.status,
    error.entries.map((entry) => ({
      ...entry,
      detail: `${detail} ${entry.detail}`,
      meta: { ...entry.meta, before },
    })),
    { cause: error, headers: error.headers },
  )
