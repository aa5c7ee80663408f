import type { Context, ErrorHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { ApiError, badRequest, methodNotAllowed, notFound, unavailable } from '../errors.ts'
import { causeOf, log, originOf } from '../log.ts'
import { pathMatcher, type RouteRow } from './facts.ts'
import { knownMethod, matchedRoute, surfaceOf } from './matched-route.ts'

const internal = new ApiError(500, [
  {
    code: 'InternalServerError',
    detail: 'Something went wrong on our side. Quote the request id when you ask for help.',
  },
])

/** Writes every failure in the wire's error shape; what nobody refused is logged and answered without detail. */
export const answerError: ErrorHandler = (error, c) => answer(c, refusalOf(error, c))

/** Answers a path without a route: 405 when another method has it, else 404. */
export function answerMissing(routes: () => RouteRow[]): (c: Context) => Response {
  return (c) => {
    const methods = routes()
      .filter((row) => pathMatcher(row.path).test(c.req.path))
      .map((row) => row.method)
    return answer(c, methods.length > 0 ? methodNotAllowed([...new Set(methods)]) : notFound())
  }
}

function answer(c: Context, refusal: ApiError): Response {
  for (const [name, value] of Object.entries(refusal.headers)) c.header(name, value)
  const errors = refusal.entries.map(({ code, detail, meta }) => ({
    code,
    status: String(refusal.status),
    detail,
    ...(meta ? { meta } : {}),
  }))
  return c.json({ errors }, refusal.status as ContentfulStatusCode)
}

function refusalOf(error: Error, c: Context): ApiError {
  const refusal = readFailure(error)
  if (refusal.status >= 500) logFailure(error, c, refusal.status)
  return refusal
}

/** What a caller hears of a failure: what nobody refused is a 500, or a 503 while the database is away. */
export function readFailure(error: Error): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof HTTPException) {
    return error.status === 400
      ? badRequest('The request is not valid JSON.')
      : new ApiError(error.status, [{ code: 'HttpException', detail: error.message }])
  }
  return isConnectionFailure(error) ? unavailable('The panel cannot reach its database right now.') : internal
}

/** SQLSTATE classes 08 and 57P, and what sockets say: the database is away, not the request wrong. */
function isConnectionFailure(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const code = (at as { code?: unknown }).code
    if (
      typeof code === 'string' &&
      /^(08|57P|53300|ECONN|ENOTFOUND|ETIMEDOUT|EPIPE|CONNECTION_|CONNECT_)/.test(code)
    ) {
      return true
    }
  }
  return false
}

/** Messages of drivers hold the statement's values, so class, code, place and root are logged. */
function logFailure(error: Error, c: Context, status: number): void {
  log('error', 'A request failed.', {
    request: c.res.headers.get('x-request-id'),
    method: knownMethod(c),
    route: matchedRoute(c),
    surface: surfaceOf(c),
    status,
    ...originOf(error),
    cause: causeOf(error),
  })
}
