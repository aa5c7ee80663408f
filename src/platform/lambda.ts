import type { MiddlewareHandler } from 'hono'
import {
  type APIGatewayProxyResult,
  defaultIsContentTypeBinary,
  handle,
  type LambdaContext,
  type LambdaEvent as GatewayEvent,
} from 'hono/aws-lambda'
import { canonicalAddress } from '../ip-addresses.ts'
import { cachedServices, type OptionalServices } from './cloud-services.ts'
import { limitConnectTime } from './connect-timeout.ts'
import { finishDeferred, runTick, type Tick } from './deferred-work.ts'
import { lazyEgress } from './lazy-egress.ts'
import { createSchemaGuard } from './schema-guard.ts'
import { serve, type Surface } from './serve.ts'

/** A request in payload format 2.0. */
export type HttpEvent = Extract<GatewayEvent, { rawPath: string }>
/** The event that EventBridge sends every minute. */
export type ScheduledEvent = { source: string; 'detail-type': string }

type LambdaOptions = OptionalServices & {
  /** For a function with a schedule. */
  tick?: Tick
  /** For the function with the pages: serves the files of the web application. */
  assets?: MiddlewareHandler
}

/** Creates a Lambda handler that serves the surfaces behind an HTTP API or a Function URL, payload format 2.0. */
export function lambda(
  surfaces: Surface[],
  { tick, assets, ...optionalServices }: LambdaOptions = {},
): (
  event: HttpEvent | ScheduledEvent,
  context?: LambdaContext,
) => Promise<APIGatewayProxyResult | undefined> {
  const services = cachedServices('lambda', lazyEgress, optionalServices)
  const schemaGuard = createSchemaGuard()
  const app = serve(
    {
      services: () => services(process.env),
      // The gateway sets it; callers can forge headers.
      clientAddress: (c) => canonicalAddress(c.env.event.requestContext.http.sourceIp) ?? '0.0.0.0',
      bodyOfGet: (c) => eventBody(c.env.event as HttpEvent & KeptBody),
      // The process freezes with the response, so the response waits for the work.
      waitUntil: (_c, work) => finishDeferred(work),
      schemaGuard,
      ...(assets ? { assets } : {}),
    },
    ...surfaces,
  )
  const handleRequest = handle(app, { isContentTypeBinary: isBinaryContentType })
  let preparation: Promise<void> | null = null
  return async (event, context) => {
    await (preparation ??= limitConnectTime())
    if (isHttp(event)) return handleRequest(sanitizeEvent(event), context)
    if (!tick || !isScheduled(event)) throw new Error('This function does not handle events of this type.')
    await runTick(await services(process.env), tick, schemaGuard)
    return undefined
  }
}

/** Whether the gateway gets the body as base64: files are sent as plain text, and invalid UTF-8 in them must survive. */
const isBinaryContentType = (contentType: string) =>
  contentType.startsWith('text/plain') || defaultIsContentTypeBinary(contentType)

const isHttp = (event: HttpEvent | ScheduledEvent): event is HttpEvent =>
  'requestContext' in event && 'http' in event.requestContext

const isScheduled = (event: ScheduledEvent) =>
  event.source === 'aws.events' || event['detail-type'] === 'Scheduled Event'

/** The body of a GET, beside the event whose `Request` cannot have it. */
type KeptBody = { bodyOfGet?: string | null | undefined }

function eventBody({ bodyOfGet, isBase64Encoded }: HttpEvent & KeptBody): Request['body'] {
  if (!bodyOfGet) return null
  return new Response(isBase64Encoded ? Buffer.from(bodyOfGet, 'base64') : bodyOfGet).body
}

/** Returns the event as a `Request` can represent it: without a body for GET and HEAD, with `?` and `#` encoded in the path. */
function sanitizeEvent(event: HttpEvent): HttpEvent & KeptBody {
  const hasNoBody = ['GET', 'HEAD'].includes(event.requestContext.http.method)
  const rawPath = event.rawPath.replaceAll('?', '%3F').replaceAll('#', '%23')
  return { ...event, rawPath, ...(hasNoBody ? { body: null, bodyOfGet: event.body } : {}) }
}
