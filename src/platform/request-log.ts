import type { MiddlewareHandler } from 'hono'
import type { HttpEnv } from '../http/environment.ts'
import { readFailure } from '../http/errors.ts'
import { knownMethod, matchedRoute, surfaceOf } from '../http/matched-route.ts'
import { log } from '../log.ts'
import type { Actor, Panel } from '../panel.ts'
import { countingStatements } from './statement-count.ts'

/** Every request is counted and leaves one line in the log. It has to stand in front of everything else. */
export const logRequests: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const began = performance.now()
  const count = { statements: 0, milliseconds: 0 }
  await countingStatements(count, next)
  const milliseconds = performance.now() - began
  const [surface, route, { status }] = [surfaceOf(c), matchedRoute(c), c.res]
  // A request that failed before the panel was open has none.
  const panel = c.get('panel') as Panel | undefined
  const error = codeOf(c.error)
  if (panel) {
    const place = { surface, route: route ?? 'none' }
    panel.metrics.count('roost_requests_total', { ...place, status: `${Math.floor(status / 100)}xx` })
    panel.metrics.observe('roost_request_duration_seconds', milliseconds / 1000, place)
    panel.metrics.observe('roost_request_statements', count.statements, { surface })
    panel.metrics.observe('roost_request_statement_seconds', count.milliseconds / 1000, { surface })
    if (status >= 500) panel.metrics.count('roost_failures_total', { error: error ?? 'none' })
  }
  log(surface === 'assets' ? 'debug' : 'info', 'request', {
    request: c.res.headers.get('x-request-id'),
    method: knownMethod(c),
    route,
    surface,
    status,
    milliseconds: Math.round(milliseconds * 10) / 10,
    statements: count.statements,
    actor: panel?.actor.kind ?? null,
    actor_id: panel ? idOf(panel.actor) : null,
    ...(error === null ? {} : { error }),
  })
}

/** The code which the caller was told. */
const codeOf = (error: Error | undefined): string | null =>
  error === undefined ? null : (readFailure(error).entries[0]?.code ?? null)

function idOf(actor: Actor): number | null {
  if (actor.kind === 'user') return actor.user.id
  return actor.kind === 'node' ? actor.node.id : null
}
