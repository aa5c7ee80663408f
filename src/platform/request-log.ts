import type { MiddlewareHandler } from 'hono'
import { toApiError } from '../http/errors.ts'
import type { HttpEnv } from '../http/http-env.ts'
import { matchedRoute, methodLabel, surfaceName } from '../http/matched-route.ts'
import { isLogged, log } from '../log.ts'
import type { Actor, Panel } from '../panel.ts'
import { measureStatements } from './statement-stats.ts'

/** Counts each request and logs one line for it. Must be the first middleware. */
export const logRequests: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const startedAt = performance.now()
  const statementStats = { statements: 0, milliseconds: 0 }
  await measureStatements(statementStats, next)
  const milliseconds = performance.now() - startedAt
  const [surface, route, { status }] = [surfaceName(c), matchedRoute(c), c.res]
  // Undefined when the request failed before its panel was opened.
  const panel = c.get('panel') as Panel | undefined
  const error = errorCodeOf(c.error)
  if (panel) {
    const labels = { surface, route: route ?? 'none' }
    panel.metrics.count('roost_requests_total', { ...labels, status: `${Math.floor(status / 100)}xx` })
    panel.metrics.observe('roost_request_duration_seconds', milliseconds / 1000, labels)
    panel.metrics.observe('roost_request_statements', statementStats.statements, { surface })
    panel.metrics.observe('roost_request_statement_seconds', statementStats.milliseconds / 1000, { surface })
    if (status >= 500) panel.metrics.count('roost_failures_total', { error: error ?? 'none' })
  }
  const severity = surface === 'assets' ? 'debug' : 'info'
  if (!isLogged(severity)) return
  log(severity, 'request', {
    request: (c.get('requestId') as string | undefined) ?? null,
    method: methodLabel(c),
    route,
    surface,
    status,
    milliseconds: Math.round(milliseconds * 10) / 10,
    statements: statementStats.statements,
    actor: panel?.actor.kind ?? null,
    actor_id: panel ? actorId(panel.actor) : null,
    ...(error === null ? {} : { error }),
  })
}

/** Returns the code of the error in the response; null without one. */
const errorCodeOf = (error: Error | undefined): string | null =>
  error === undefined ? null : (toApiError(error).entries[0]?.code ?? null)

function actorId(actor: Actor): number | null {
  if (actor.kind === 'user') return actor.user.id
  return actor.kind === 'node' ? actor.node.id : null
}
