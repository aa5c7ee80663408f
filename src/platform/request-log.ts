import type { Context, MiddlewareHandler } from 'hono'
import { toApiError } from '../http/errors.ts'
import type { HttpEnv } from '../http/http-env.ts'
import { matchedRoute, methodLabel, surfaceName } from '../http/matched-route.ts'
import { isLogged, log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Actor, Panel } from '../panel.ts'
import type { Arrival } from './shed-load.ts'
import { measureStatements, type StatementStats } from './statement-stats.ts'

/** Counts each request and logs one line for it; its time begins when it came. Must be the first middleware. */
export const logRequests: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const startedAt = (c.env as Partial<Arrival> | undefined)?.arrivedAt ?? performance.now()
  const stats = { statements: 0, milliseconds: 0 }
  await measureStatements(stats, next)
  const milliseconds = performance.now() - startedAt
  const request = { surface: surfaceName(c), route: matchedRoute(c), status: c.res.status }
  const error = errorCodeOf(c.error)
  // Undefined when the request failed before its panel was opened.
  const panel = c.get('panel') as Panel | undefined
  if (panel) countRequest(panel.metrics, request, stats, { milliseconds, error })
  if (isLogged(request.surface === 'assets' ? 'debug' : 'info'))
    logRequest(c, panel, request, stats, { milliseconds, error })
}

type AnsweredRequest = { surface: string; route: string | null; status: number }
type Outcome = { milliseconds: number; error: string | null }

/** The series that a request is counted in, of each process by what its labels are made of. */
const requestSeries = new WeakMap<Metrics, Map<string, ReturnType<typeof openSeries>>>()

const openSeries = (metrics: Metrics, surface: string, route: string, status: string) => ({
  requests: metrics.series('roost_requests_total', { surface, route, status }),
  seconds: metrics.series('roost_request_duration_seconds', { surface, route }),
  statements: metrics.series('roost_request_statements', { surface }),
  statementSeconds: metrics.series('roost_request_statement_seconds', { surface }),
})

function countRequest(
  metrics: Metrics,
  { surface, route, status }: AnsweredRequest,
  stats: StatementStats,
  { milliseconds, error }: Outcome,
): void {
  const known = requestSeries.get(metrics) ?? new Map<string, ReturnType<typeof openSeries>>()
  requestSeries.set(metrics, known)
  const statusClass = `${Math.floor(status / 100)}xx`
  const key = `${surface} ${statusClass} ${route}`
  const series = known.get(key) ?? openSeries(metrics, surface, route ?? 'none', statusClass)
  known.set(key, series)
  series.requests.add(1)
  series.seconds.add(milliseconds / 1000)
  series.statements.add(stats.statements)
  series.statementSeconds.add(stats.milliseconds / 1000)
  if (status >= 500) metrics.count('roost_failures_total', { error: error ?? 'none' })
}

function logRequest(
  c: Context<HttpEnv>,
  panel: Panel | undefined,
  { surface, route, status }: AnsweredRequest,
  { statements }: StatementStats,
  { milliseconds, error }: Outcome,
): void {
  log(surface === 'assets' ? 'debug' : 'info', 'request', {
    request: (c.get('requestId') as string | undefined) ?? null,
    method: methodLabel(c),
    route,
    surface,
    status,
    milliseconds: Math.round(milliseconds * 10) / 10,
    statements,
    actor: panel?.actor.kind ?? null,
    actor_id: panel ? actorId(panel.actor) : null,
    ...(error === null ? {} : { error }),
    address: panel?.ip ?? null,
  })
}

/** Returns the code of the error in the response; null without one. */
const errorCodeOf = (error: Error | undefined): string | null =>
  error === undefined ? null : (toApiError(error).entries[0]?.code ?? null)

function actorId(actor: Actor): number | null {
  if (actor.kind === 'user') return actor.user.id
  return actor.kind === 'node' ? actor.node.id : null
}
