import type { Context, ErrorHandler, MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import {
  ApiError,
  badRequest,
  methodNotAllowed,
  notFound,
  storageFull,
  unavailable,
  unexpectedError,
} from '../errors.ts'
import { causeOf, log, type LogFields, originOf, warnOncePerMinute } from '../log.ts'
import { matchedRoute, methodLabel, surfaceName } from './matched-route.ts'
import { pathMatcher, type RouteRow } from './metadata.ts'

const internal = unexpectedError()

/** Writes an error in the wire's shape. Unexpected errors are logged and answered without detail. */
export const handleError: ErrorHandler = (error, c) => respond(c, toLoggedApiError(error, c))

/** Answers a path without a route: 405 with the methods of the path when it has others, else 404. */
export function handleNotFound(routes: () => RouteRow[]): (c: Context) => Response {
  return (c) => {
    const methods = methodsOf(c.req.path, routes())
    return respond(c, methods.length > 0 ? methodNotAllowed(methods) : notFound())
  }
}

/** Lists the methods of a path, those of its literal pattern where placeholders match it, too. */
function methodsOf(path: string, routes: RouteRow[]): string[] {
  const matching = routes.filter((row) => pathMatcher(row.path).test(path))
  const [closest] = matching.map((row) => placeholdersOf(row.path)).toSorted()
  const methods = matching.filter((row) => placeholdersOf(row.path) === closest).map((row) => row.method)
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method)))]
}

/** Writes a pattern as `0` for each literal and `1` for each placeholder: the smallest text is the closest pattern. */
const placeholdersOf = (pattern: string): string =>
  pattern
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '1' : '0'))
    .join('')

/** Ends a literal path in front of placeholders that match it: its other methods are 405, not a look-up by its name. */
export const refuseOtherMethods: MiddlewareHandler = async (c) => c.notFound()

function respond(c: Context, apiError: ApiError): Response {
  for (const [name, value] of Object.entries(apiError.headers)) c.header(name, value)
  const errors = apiError.entries.map(({ code, detail, meta }) => ({
    code,
    status: String(apiError.status),
    detail,
    ...(Object.keys(meta).length > 0 ? { meta } : {}),
  }))
  return c.json({ errors }, apiError.status as ContentfulStatusCode)
}

function toLoggedApiError(error: Error, c: Context): ApiError {
  const apiError = toApiError(error)
  // A node is not the panel: what it refuses, also because of the caller, is for those who run the node.
  if (isDaemonFailure(apiError))
    logFailure('warn', 'A node refused or did not answer.', error, c, apiError.status)
  // A flood must not fill the log.
  else if (apiError.entries[0]?.code === 'ServiceOverloadedException')
    warnOncePerMinute('Requests are refused, since too many are in progress.', { surface: surfaceName(c) })
  else if (apiError.status >= 500) logFailure('error', 'A request failed.', error, c, apiError.status)
  return apiError
}

/** Whether a call to a daemon failed, by the error's code, or by its cause where the route has a sentence of its own. */
const isDaemonFailure = ({ entries, cause }: ApiError): boolean =>
  entries[0]?.code === 'DaemonConnectionException' || (cause instanceof Error && cause.name === 'DaemonError')

/**
 * Converts an error to its answer; an unexpected one is a 500, a 503 while the database is unreachable or cannot write,
 * and a 507 while a disk is full.
 */
export function toApiError(error: Error): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof HTTPException) {
    return error.status === 400
      ? badRequest('request_malformed', 'The request is not valid JSON.')
      : new ApiError(error.status, [{ code: 'HttpException', detail: error.message, meta: {} }])
  }
  if (hasCode(error, storageFullCodes)) return storageFull(error)
  if (hasCode(error, readOnlyCodes))
    return unavailable('panel_database_read_only', 'The database of the panel cannot write right now.')
  return hasCode(error, connectionCodes)
    ? unavailable('panel_database_unreachable', 'The panel cannot reach its database right now.')
    : internal
}

/** SQLSTATE 53100, and codes of files. */
const storageFullCodes = /^(53100|ENOSPC|EDQUOT)$/
/** SQLSTATE of an I/O error, and of a database that only reads, such as a replica. */
const readOnlyCodes = /^(58030|25006)$/
/** SQLSTATE classes 08 and 57P, too many connections, and codes of sockets. */
const connectionCodes = /^(08|57P|53300|ECONN|ENOTFOUND|ETIMEDOUT|EPIPE|CONNECTION_|CONNECT_)/

/** Whether an error or one of its causes has a code of this form. */
function hasCode(error: unknown, pattern: RegExp): boolean {
  for (let current: unknown = error; isObject(current); current = current.cause) {
    if (typeof current.code === 'string' && pattern.test(current.code)) return true
  }
  return false
}

const isObject = (value: unknown): value is { code?: unknown; cause?: unknown } =>
  typeof value === 'object' && value !== null

/** Logs class, code, place and cause: messages of drivers would contain the statement's values. */
function logFailure(
  level: 'warn' | 'error',
  message: string,
  error: Error,
  c: Context,
  status: number,
): void {
  log(level, message, {
    request: (c.get('requestId') as string | undefined) ?? null,
    method: methodLabel(c),
    route: matchedRoute(c),
    surface: surfaceName(c),
    status,
    ...subjectOf(error, c),
    ...originOf(error),
    // A node's refusal has no place in the code of the panel.
    ...(level === 'warn' ? { stack: undefined } : {}),
    cause: causeOf(error),
  })
}

type Uuid = { uuid?: string }

/** Returns the uuids of node and server of a failed call: what the call itself noted, else what the route is about. */
function subjectOf({ cause }: Error, c: Context): Pick<LogFields, 'node' | 'server'> {
  const noted = (isObject(cause) ? cause : {}) as { node?: string | null; server?: string | null }
  const access = (c.get('access') ?? {}) as { node?: Uuid; server?: Uuid }
  return { node: noted.node ?? access.node?.uuid, server: noted.server ?? access.server?.uuid }
}
