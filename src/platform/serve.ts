import { type Context, type ErrorHandler, Hono, type MiddlewareHandler } from 'hono'
import { badRequest } from '../errors.ts'
import type { HttpEnv } from '../http/environment.ts'
import { answerError, answerMissing } from '../http/errors.ts'
import { requireDeclared, routesOf } from '../http/facts.ts'
import { readTrace } from '../http/traceparent.ts'
import type { Panel } from '../panel.ts'
import { openPanel, type Parts } from './parts.ts'
import { logRequests } from './request-log.ts'
import { explainFailure, refuseWritesBehind, type SchemaGuard } from './schema-guard.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- surfaces differ in variables and routes, which nothing here reads
export type Surface = Hono<any, any, any>

/** All that differs between Node, Workers and Lambda. */
export type Platform = {
  parts: (c: Context) => Promise<Parts>
  /** The only believed source of the caller's address; canonical. */
  address: (c: Context) => string
  /** Sees to it that work which outlives the answer is finished. */
  settle: (c: Context, work: Promise<unknown>[]) => void | Promise<void>
  /** Gives the application's files, where the platform has no place of its own for them. */
  assets?: MiddlewareHandler
  /** Where nobody has migrated the database by the time of the first request. */
  schema?: SchemaGuard | null
}

/** Where the application's files are, and the description of all routes. */
const assetPaths = ['/assets/*', '/openapi.json']

/** Surfaces behind one door: a panel for each request, one way for errors to leave, headers for all. */
export function serve(platform: Platform, ...surfaces: Surface[]): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>({ strict: false })
  app.onError(answerFailure(platform.schema ?? null))
  app.notFound(answerMissing(() => routesOf(app)))
  app.use(logRequests, headers, refuseOddPaths)
  if (platform.assets) for (const path of assetPaths) app.use(path, platform.assets)
  app.use(openingPanel(platform))
  if (platform.schema) app.use(refuseWritesBehind(platform.schema))
  for (const surface of surfaces) app.route('/', surface as Hono<HttpEnv>)
  requireDeclared(app)
  return app
}

const answerFailure =
  (schema: SchemaGuard | null): ErrorHandler<HttpEnv> =>
  async (error, c) => {
    // A request that failed before the panel was open has none.
    const panel = c.get('panel') as Panel | undefined
    if (schema && panel) c.error = await explainFailure(schema, panel.db, error)
    return answerError(c.error ?? error, c)
  }

const openingPanel =
  (platform: Platform): MiddlewareHandler<HttpEnv> =>
  async (c, next) => {
    const parts = await platform.parts(c)
    const deferred: Promise<unknown>[] = []
    c.set(
      'panel',
      openPanel(parts, {
        ip: platform.address(c),
        requestId: c.res.headers.get('x-request-id') ?? '',
        trace: readTrace(c.req.header('traceparent')),
        defer: (work) => void deferred.push(work),
      }),
    )
    await next()
    if (deferred.length > 0) await platform.settle(c, deferred)
  }

const headers: MiddlewareHandler = async (c, next) => {
  c.header('x-request-id', readTrace(c.req.header('traceparent'))?.id ?? crypto.randomUUID())
  c.header('x-content-type-options', 'nosniff')
  c.header('cache-control', 'no-store, private')
  c.header('content-security-policy', "default-src 'none'")
  await next()
}

/** Paths which two readers might take for two different ones. */
const refuseOddPaths: MiddlewareHandler = async (c, next) => {
  const path = new URL(c.req.url).pathname
  if (/\/\/|\\|%2f|%5c|%00/i.test(path)) throw badRequest('The path is not in its plain form.')
  await next()
}
