import { type Context, type ErrorHandler, Hono, type MiddlewareHandler } from 'hono'
import { isWriteFailure, noteWriteFailure } from '../db/write-failures.ts'
import { badRequest } from '../errors.ts'
import { encodedPath, isAmbiguousPath } from '../http/ambiguous-paths.ts'
import { type AnswerHeaders, keepAnswerHeaders } from '../http/answer-headers.ts'
import type { HttpEnv } from '../http/http-env.ts'
import { handleError, handleNotFound } from '../http/errors.ts'
import { requireRouteMetadata, routesOf } from '../http/metadata.ts'
import { effectiveRouter } from '../http/router.ts'
import { readTrace, type Trace } from '../http/traceparent.ts'
import type { Panel } from '../panel.ts'
import { openPanel, type Services } from './open-panel.ts'
import { logRequests } from './request-log.ts'
import { explainFailure, refuseWritesWhileBehind, type SchemaGuard } from './schema-guard.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- surfaces differ in variables and routes, which nothing here reads
export type Surface = Hono<any, any, any>

/** The differences between Node, Workers and Lambda. */
export type Platform = {
  services: (c: Context) => Promise<Services>
  /** Returns the caller's address in canonical form, from the only trusted source. */
  clientAddress: (c: Context) => string
  /** Returns what writes plain headers in front of the answer; null where the answer must have them itself. */
  headerWriter?: (c: Context) => HeaderWriter | null
  /** Opens the body of a `GET`, which a `Request` cannot have on this platform. */
  bodyOfGet?: (c: Context) => Request['body']
  /** Calls the listener once the whole answer is with the operating system, which no longer needs its bytes. */
  whenSent?: (c: Context, listener: () => void) => void
  /** Lets work finish that outlives the response. */
  waitUntil: (c: Context, work: Promise<unknown>[]) => void | Promise<void>
  /** Serves the files of the web application, where the platform does not do it itself. */
  assets?: MiddlewareHandler
  /** Runs each request in a span, and says which one runs, where the operator wants traces. */
  tracing?: { request: MiddlewareHandler<HttpEnv>; traceparent: () => string | null } | null
  /** Compresses answers, where nothing in front of the panel does it. */
  compress?: MiddlewareHandler
  /** Refuses what came when there was too much to do, where no platform starts further processes. */
  shedLoad?: MiddlewareHandler
  /** For platforms that do not migrate the database before the first request. */
  schemaGuard?: SchemaGuard | null
}

/** Writes a header that the answer does not have itself. */
type HeaderWriter = { setHeader: (name: string, value: string) => unknown }

/** Paths of the web application's files, of what browsers and robots look for, and of the OpenAPI document. */
const assetPaths = [
  '/assets/*',
  '/favicon.ico',
  '/apple-touch-icon.png',
  '/icon-192.png',
  '/icon-512.png',
  '/icon-maskable.png',
  '/robots.txt',
  '/service-worker.js',
  '/openapi.json',
]

/** Combines surfaces into one app, which opens a panel for each request, handles errors and sets default headers. */
export function serve(platform: Platform, ...surfaces: Surface[]): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>({ strict: false, router: effectiveRouter() })
  app.onError(handleFailure(platform.schemaGuard ?? null))
  app.notFound(handleNotFound(() => routesOf(app)))
  if (platform.tracing) app.use(platform.tracing.request)
  app.use(logRequests)
  app.use(setDefaultHeaders(platform))
  if (platform.compress) app.use(platform.compress)
  app.use(refuseAmbiguousPaths)
  if (platform.assets) for (const path of assetPaths) app.use(path, platform.assets)
  if (platform.shedLoad) app.use(platform.shedLoad)
  app.use(withPanel(platform))
  if (platform.schemaGuard) app.use(refuseWritesWhileBehind(platform.schemaGuard))
  for (const surface of surfaces) app.route('/', surface as Hono<HttpEnv>)
  requireRouteMetadata(app)
  return app
}

const handleFailure =
  (schemaGuard: SchemaGuard | null): ErrorHandler<HttpEnv> =>
  async (error, c) => {
    // A request that failed before the panel was open has none.
    const panel = c.get('panel') as Panel | undefined
    if (panel && isWriteFailure(error)) noteWriteFailure(panel.db)
    if (schemaGuard && panel) c.error = await explainFailure(schemaGuard, panel.db, error)
    return handleError(c.error ?? error, c)
  }

const withPanel =
  (platform: Platform): MiddlewareHandler<HttpEnv> =>
  async (c, next) => {
    const services = await platform.services(c)
    const { bodyOfGet, whenSent } = platform
    if (bodyOfGet) c.set('bodyOfGet', () => bodyOfGet(c))
    if (whenSent) c.set('whenSent', (listener) => whenSent(c, listener))
    const deferred: Promise<unknown>[] = []
    c.set(
      'panel',
      openPanel(services, {
        ip: platform.clientAddress(c),
        requestId: c.get('requestId'),
        trace: c.get(traceKey) as Trace | null,
        defer: (work) => void deferred.push(work),
      }),
    )
    await next()
    if (deferred.length > 0) await platform.waitUntil(c, deferred)
  }

/** Names the variable with the caller's trace. */
const traceKey = 'trace' as never

const defaultHeaders = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store, private',
  'content-security-policy': "default-src 'none'",
}

/**
 * Sets headers in front of the answer. Reading `c.res` before there is an answer would make it slow to send, and so
 * would headers of its own; so the platform writes them where it can.
 */
const setDefaultHeaders =
  ({ headerWriter, tracing }: Platform): MiddlewareHandler<HttpEnv> =>
  async (c, next) => {
    const caller = readTrace(c.req.header('traceparent'), c.req.header('tracestate'))
    const span = readTrace(tracing?.traceparent() ?? undefined)
    const trace = span ? { ...span, state: caller?.state ?? null } : caller
    const requestId = trace?.id ?? crypto.randomUUID()
    c.set('requestId', requestId)
    c.set(traceKey, trace as never)
    const headers: AnswerHeaders = { 'x-request-id': requestId, ...defaultHeaders }
    const writer = headerWriter?.(c) ?? null
    if (writer) keepAnswerHeaders(c, headers)
    else for (const name in headers) c.header(name, headers[name])
    await next()
    // A 304 changes the headers of the answer that a browser has kept.
    if (writer && c.res.status !== 304)
      for (const name in headers) writer.setHeader(name, headers[name] ?? '')
  }

/** Refuses with 400 paths that proxies and routers may read differently. */
const refuseAmbiguousPaths: MiddlewareHandler = async (c, next) => {
  if (isAmbiguousPath(encodedPath(c.req.url)))
    throw badRequest(
      'request_malformed',
      'The path must not contain empty segments, backslashes, or encoded slashes.',
    )
  await next()
}
