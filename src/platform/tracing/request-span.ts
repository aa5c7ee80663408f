import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { MiddlewareHandler } from 'hono'
import { toApiError } from '../../http/errors.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { matchedRoute, methodLabel, surfaceName } from '../../http/matched-route.ts'
import { readTrace } from '../../http/traceparent.ts'
import type { Panel } from '../../panel.ts'
import { recordError, type Spans } from './spans.ts'

/**
 * Returns the middleware that runs each request in a span, named by method and route: paths and queries have ids, tokens
 * and signatures. Files of the web application have none.
 */
export const requestSpan =
  (spans: Spans): MiddlewareHandler<HttpEnv> =>
  async (c, next) => {
    const surface = surfaceName(c)
    if (surface === 'assets') return next()
    const method = methodLabel(c)
    const caller = readTrace(c.req.header('traceparent'), c.req.header('tracestate'))
    await spans.begin(method, caller, { kind: SpanKind.SERVER }, async (span) => {
      await next()
      if (!span.isRecording()) return
      const route = matchedRoute(c)
      const { status } = c.res
      if (route !== null) span.updateName(`${method} ${route}`)
      span.setAttributes({
        'http.request.method': method,
        ...(route === null ? {} : { 'http.route': route }),
        'http.response.status_code': status,
        'roost.surface': surface,
        'roost.request_id': c.get('requestId'),
        'roost.actor': (c.get('panel') as Panel | undefined)?.actor.kind ?? 'guest',
      })
      if (c.error) span.setAttribute('error.type', toApiError(c.error).entries[0]?.code ?? 'none')
      if (status < 500) return
      if (c.error) recordError(span, c.error)
      else span.setStatus({ code: SpanStatusCode.ERROR })
    })
  }
