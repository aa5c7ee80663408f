import { type Context, type ErrorHandler, Hono, type MiddlewareHandler } from 'hono'
import { isWriteFailure, noteWriteFailure } from '../db/write-failures.ts'
import { badRequest } from '../errors.ts'
import { encodedPath, isAmbiguousPath } from '../http/ambiguous-paths.ts'
import type { HttpEnv } from '../http/http-env.ts'
import { handleError, handleNotFound } from '../http/errors.ts'
import { requireRouteMetadata, routesOf } from '../http/metadata.ts'
import { readTrace } from '../http/traceparent.ts'
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
  /** Opens the body of a `GET`, which a `Request` cannot have on this platform. */
  bodyOfGet?: (c: Context) => Request['body']
  /** Lets work finish that outlives the response. */
  waitUntil: (c: Context, work: Promise<unknown>[]) => void | Promise<void>
  /** Serves the files of the web application, where the platform does not do it itself. */
  assets?: MiddlewareHandler
  /** Compresses answers, where nothing in front of the panel does it. */
  compress?: MiddlewareHandler
  /** Refuses what would wait for long, where no platform starts further processes. */
  shedLoad?: MiddlewareHandler
  /** For platforms that do not migrate the database before the first request. */
  schemaGuard?: SchemaGuard | null
}

/** Paths of the web application's files and of the OpenAPI document. */
const assetPaths = ['/assets/*', '/openapi.json']

/** Combines surfaces into one app, which opens a panel for each request, handles errors and sets default headers. */
export function serve(platform: Platform, ...surfaces: Surface[]): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>({ strict: false })
  app.onError(handleFailure(platform.schemaGuard ?? null))
  app.notFound(handleNotFound(() => routesOf(app)))
  app.use(logRequests)
  if (platform.compress) app.use(platform.compress)
  app.use(setDefaultHeaders, refuseAmbiguousPaths)
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
    const { bodyOfGet } = platform
    if (bodyOfGet) c.set('bodyOfGet', () => bodyOfGet(c))
    const deferred: Promise<unknown>[] = []
    c.set(
      'panel',
      openPanel(services, {
        ip: platform.clientAddress(c),
        requestId: c.var.requestId,
        trace: readTrace(c.req.header('traceparent')),
        defer: (work) => void deferred.push(work),
      }),
    )
    await next()
    if (deferred.length > 0) await platform.waitUntil(c, deferred)
  }

/** Sets headers in front of the answer. Reading `c.res` before there is an answer would make it slow to send. */
const setDefaultHeaders: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const requestId = readTrace(c.req.header('traceparent'))?.id ?? crypto.randomUUID()
  c.set('requestId', requestId)
  c.header('x-request-id', requestId)
  c.header('x-content-type-options', 'nosniff')
  c.header('cache-control', 'no-store, private')
  c.header('content-security-policy', "default-src 'none'")
  await next()
}

/** Refuses with 400 paths that proxies and routers may read differently. */
const refuseAmbiguousPaths: MiddlewareHandler = async (c, next) => {
  if (isAmbiguousPath(encodedPath(c.req.url)))
    throw badRequest('The path must not contain empty segments, backslashes, or encoded slashes.')
  await next()
}
