import type { Handler, Hono, MiddlewareHandler } from 'hono'
import type * as z from 'zod'

export type LazySchema<Schema extends z.ZodType = z.ZodType> = () => Schema

/** One fact about a route, carried by a middleware in front of it. */
export type RouteMetadata =
  | { kind: 'summary'; text: string }
  | { kind: 'credential'; name: string }
  | { kind: 'permission'; name: string }
  /** `limit` is requests per window of so many seconds; the operator configures some limits. */
  | { kind: 'throttle'; name: string; limit: number | 'configured'; seconds: number }
  /** `types` are the media types of a body. */
  | {
      kind: 'input'
      target: 'param' | 'query' | 'json' | 'form'
      schema: LazySchema
      limit?: number
      types?: string[]
      preserveWhitespace?: boolean
      requiresBody?: boolean
    }
  | { kind: 'returns'; status: number; schema: LazySchema | null; textTypes?: string[] }

export type RouteRow = { method: string; path: string; metadata: RouteMetadata[] }

const metadataKey = Symbol('route metadata')

/** Attaches metadata to a middleware: it holds for every route that the middleware is mounted in front of. */
export function withMetadata<M extends object>(metadata: RouteMetadata, middleware: M): M {
  return Object.assign(middleware, { [metadataKey]: metadata })
}

const declarations = new WeakSet<object>()

/** Creates a middleware that does nothing but carry metadata. */
export function declare(metadata: RouteMetadata): MiddlewareHandler {
  const middleware = withMetadata<MiddlewareHandler>(metadata, (_c, next) => next())
  declarations.add(middleware)
  return middleware
}

/** Whether a middleware does nothing but carry metadata. */
export const isDeclaration = (middleware: object): boolean => declarations.has(middleware)

/** Declares who may call a route where nothing further is checked, or something else checks it. */
export const declarePermission = (name: string): MiddlewareHandler => declare({ kind: 'permission', name })

type AnyApp = Pick<Hono, 'routes'>

/** Lists the routes of an app in the order in which they are tried, with the metadata of every middleware in front. */
export function routesOf(app: AnyApp): RouteRow[] {
  const rows = new Map<string, RouteRow>()
  const inherited: { path: string; metadata: RouteMetadata }[] = []
  for (const { method, path, handler } of app.routes) {
    const metadata = (handler as Handler & { [metadataKey]?: RouteMetadata })[metadataKey]
    if (method === 'ALL') {
      if (metadata) inherited.push({ path, metadata })
      continue
    }
    const key = `${method} ${path}`
    const row = rows.get(key) ?? {
      method,
      path,
      metadata: inherited.filter((entry) => patternCovers(entry.path, path)).map((entry) => entry.metadata),
    }
    rows.set(key, row)
    if (metadata) row.metadata.push(metadata)
  }
  return [...rows.values()]
}

/** Tells whether a middleware mounted at `pattern` is in front of the route at `path`. */
function patternCovers(pattern: string, path: string): boolean {
  if (!pattern.endsWith('*')) return pattern === path
  const prefix = pattern.slice(0, -1).replace(/\/$/, '')
  return path === prefix || path.startsWith(`${prefix}/`)
}

/** Finds the first metadata of one kind. */
export function findMetadata<K extends RouteMetadata['kind']>(
  row: RouteRow,
  kind: K,
): Extract<RouteMetadata, { kind: K }> | null {
  return (
    (row.metadata.find((metadata) => metadata.kind === kind) as
      | Extract<RouteMetadata, { kind: K }>
      | undefined) ?? null
  )
}

/** Throws when a route lacks its summary, credential, permission or answer: such a route cannot be mounted. */
export function requireRouteMetadata(app: AnyApp): void {
  for (const row of routesOf(app)) {
    for (const kind of ['summary', 'credential', 'permission', 'returns'] as const) {
      if (!findMetadata(row, kind)) throw new Error(`${row.method} ${row.path} does not declare its ${kind}.`)
    }
  }
}

/** Builds the expression that matches the paths of a route: `:name` stands for one segment. */
export function pathMatcher(pattern: string): RegExp {
  const source = pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+(\\\{[^}]*\\\})?/g, '[^/]+')
  return new RegExp(`^${source}/?$`)
}
