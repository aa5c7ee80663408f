import {
  type APIGatewayProxyResult,
  handle,
  type LambdaContext,
  type LambdaEvent as GatewayEvent,
} from 'hono/aws-lambda'
import type { MiddlewareHandler } from 'hono'
import { canonicalAddress } from '../addresses.ts'
import { finish, runTick, type Tick } from './background.ts'
import { limitConnecting } from './connect-timeout.ts'
import { type AskGames, keepParts, type OpenMysqlHost } from './cloud-parts.ts'
import type { OpenSmtp } from './mail.ts'
import { serve, type Surface } from './serve.ts'

/** A request in payload format 2.0. */
export type HttpEvent = Extract<GatewayEvent, { rawPath: string }>
/** What EventBridge sends once a minute. */
export type ScheduledEvent = { source: string; 'detail-type': string }

/** What only some functions need, since it makes a bundle larger. */
type Equipment = {
  /** For a function with a schedule. */
  tick?: Tick
  /** For one that reaches database hosts. */
  mysqlHost?: OpenMysqlHost
  /** For one that runs jobs. */
  gameQuery?: AskGames
  /** For one that runs jobs, where mail goes through a server. */
  smtp?: OpenSmtp
  /** For one that shows pages, where no CDN has the application's files. */
  assets?: MiddlewareHandler
}

/** Surfaces as a Lambda behind an HTTP API or a Function URL, payload format 2.0. */
export function lambda(
  surfaces: Surface[],
  { tick, mysqlHost, gameQuery, smtp, assets }: Equipment = {},
): (
  event: HttpEvent | ScheduledEvent,
  context?: LambdaContext,
) => Promise<APIGatewayProxyResult | undefined> {
  const parts = keepParts('lambda', mysqlHost ?? null, gameQuery ?? null, smtp ?? null)
  const app = serve(
    {
      parts: () => parts(process.env),
      // Set by the gateway; headers are only claims.
      address: (c) => canonicalAddress(c.env.event.requestContext.http.sourceIp) ?? '0.0.0.0',
      // A frozen process keeps no promises, so the answer waits for them.
      settle: (_c, work) => finish(work),
      ...(assets ? { assets } : {}),
    },
    ...surfaces,
  )
  const answer = handle(app)
  let prepared: Promise<void> | null = null
  return async (event, context) => {
    await (prepared ??= limitConnecting())
    if (isHttp(event)) return answer(readable(event), context)
    if (!tick || !isScheduled(event)) throw new Error('This function does not know such events.')
    await runTick(await parts(process.env), tick)
    return undefined
  }
}

const isHttp = (event: HttpEvent | ScheduledEvent): event is HttpEvent =>
  'requestContext' in event && 'http' in event.requestContext

const isScheduled = (event: ScheduledEvent) =>
  event.source === 'aws.events' || event['detail-type'] === 'Scheduled Event'

/** The event in a form that a `Request` can hold: no body where none may be, no decoded `?` or `#` in the path. */
function readable(event: HttpEvent): HttpEvent {
  const hasNoBody = ['GET', 'HEAD'].includes(event.requestContext.http.method)
  const rawPath = event.rawPath.replaceAll('?', '%3F').replaceAll('#', '%23')
  return { ...event, rawPath, ...(hasNoBody ? { body: null } : {}) }
}
