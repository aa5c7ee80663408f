import type { Context, ErrorHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { ApiError, badRequest, methodNotAllowed, notFound, unavailable } from '../errors.ts'
import { pathMatcher, type RouteRow } from './facts.ts'

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
  if (error instanceof ApiError) {
    if (error.status >= 500) logFailure(error, c, error.status)
    return error
  }
  if (error instanceof HTTPException) {
    return error.status === 400
      ? badRequest('The request is not valid JSON.')
      : new ApiError(error.status, [{ code: 'HttpException', detail: error.message }])
  }
  const connectionLost = isConnectionFailure(error)
  logFailure(error, c, connectionLost ? 503 : 500)
  return connectionLost ? unavailable('The panel cannot reach its database right now.') : internal
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

/** Messages of drivers hold the statement's values, so only class, code and place are logged. */
function logFailure(error: Error, c: Context, status: number): void {
  const root = rootOf(error)
  console.error(
    JSON.stringify({
      level: 'error',
      request: c.res.headers.get('x-request-id'),
      method: c.req.method,
      path: c.req.path,
      status,
      error: error.name,
      code: (root as { code?: unknown }).code ?? null,
      cause: root === error && !(error instanceof ApiError) ? error.message : root.message.slice(0, 300),
      stack:
        error.stack
          ?.split('\n')
          .map((line) => line.trim())
          .filter((line) => line.startsWith('at '))
          .slice(0, 8) ?? [],
    }),
  )
}

function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error
}
