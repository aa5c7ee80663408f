import {
  type APIGatewayProxyResult,
  defaultIsContentTypeBinary,
  handle,
  type LambdaContext,
  type LambdaEvent as GatewayEvent,
} from 'hono/aws-lambda'
import type { MiddlewareHandler } from 'hono'
import { canonicalAddress } from '../addresses.ts'
import { finish, runTick, type Tick } from './background.ts'
import { limitConnecting } from './connect-timeout.ts'
import { type Equipment, keepParts } from './cloud-parts.ts'
import { schemaGuard } from './schema-guard.ts'
import { serve, type Surface } from './serve.ts'

/** A request in payload format 2.0. */
export type HttpEvent = Extract<GatewayEvent, { rawPath: string }>
/** What EventBridge sends once a minute. */
export type ScheduledEvent = { source: string; 'detail-type': string }

type LambdaEquipment = Equipment & {
  /** For a function with a schedule. */
  tick?: Tick
  /** For one that shows pages, where no CDN has the application's files. */
  assets?: MiddlewareHandler
}

/** Surfaces as a Lambda behind an HTTP API or a Function URL, payload format 2.0. */
export function lambda(
  surfaces: Surface[],
  { tick, assets, ...equipment }: LambdaEquipment = {},
): (
  event: HttpEvent | ScheduledEvent,
  context?: LambdaContext,
) => Promise<APIGatewayProxyResult | undefined> {
  const parts = keepParts('lambda', equipment)
  const schema = schemaGuard()
  const app = serve(
    {
      parts: () => parts(process.env),
      // Set by the gateway; headers are only claims.
      address: (c) => canonicalAddress(c.env.event.requestContext.http.sourceIp) ?? '0.0.0.0',
      // A frozen process keeps no promises, so the answer waits for them.
      settle: (_c, work) => finish(work),
      schema,
      ...(assets ? { assets } : {}),
    },
    ...surfaces,
  )
  const answer = handle(app, { isContentTypeBinary: isSentAsBytes })
  let prepared: Promise<void> | null = null
  return async (event, context) => {
    await (prepared ??= limitConnecting())
    if (isHttp(event)) return answer(readable(event), context)
    if (!tick || !isScheduled(event)) throw new Error('This function does not know such events.')
    await runTick(await parts(process.env), tick, schema)
    return undefined
  }
}

/** Files are shown as text whatever they hold: as text for the gateway they would lose what is no UTF-8. */
const isSentAsBytes = (contentType: string) =>
  contentType.startsWith('text/plain') || defaultIsContentTypeBinary(contentType)

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
