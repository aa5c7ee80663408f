import type { Handler, Hono } from 'hono'
import type * as z from 'zod'

export type Lazy<Schema extends z.ZodType = z.ZodType> = () => Schema

/** Something a route states about itself by the middleware it is made of. */
export type Fact =
  | { kind: 'summary'; text: string }
  | { kind: 'credential'; name: string }
  | { kind: 'permission'; name: string }
  | { kind: 'throttle'; name: string; limit: number; seconds: number }
  | { kind: 'input'; place: 'param' | 'query' | 'json' | 'form'; schema: Lazy; limit?: number }
  | { kind: 'returns'; status: number; schema: Lazy | null }

export type RouteRow = { method: string; path: string; facts: Fact[] }

const factOf = Symbol('fact')

/** Lets a middleware state a fact about the routes it stands in; it behaves as before. */
export function stating<M extends object>(fact: Fact, middleware: M): M {
  return Object.assign(middleware, { [factOf]: fact })
}

type AnyApp = Pick<Hono, 'routes'>

/** The routes of an app in the order in which they are tried, with the facts of every middleware in front of them. */
export function routesOf(app: AnyApp): RouteRow[] {
  const rows = new Map<string, RouteRow>()
  const shared: { path: string; fact: Fact }[] = []
  for (const { method, path, handler } of app.routes) {
    const fact = (handler as Handler & { [factOf]?: Fact })[factOf]
    if (method === 'ALL') {
      if (fact) shared.push({ path, fact })
      continue
    }
    const key = `${method} ${path}`
    const row = rows.get(key) ?? {
      method,
      path,
      facts: shared.filter((above) => covers(above.path, path)).map((above) => above.fact),
    }
    rows.set(key, row)
    if (fact) row.facts.push(fact)
  }
  return [...rows.values()]
}

/** Whether a middleware mounted at `pattern` stands in front of `path`. */
function covers(pattern: string, path: string): boolean {
  if (!pattern.endsWith('*')) return pattern === path
  const prefix = pattern.slice(0, -1).replace(/\/$/, '')
  return path === prefix || path.startsWith(`${prefix}/`)
}

/** The first fact of one kind. */
export function factOfKind<K extends Fact['kind']>(
  row: RouteRow,
  kind: K,
): Extract<Fact, { kind: K }> | null {
  return (row.facts.find((fact) => fact.kind === kind) as Extract<Fact, { kind: K }> | undefined) ?? null
}

/** Throws when a route does not say who may call it: such a route cannot be mounted. */
export function requireDeclared(app: AnyApp): void {
  for (const row of routesOf(app)) {
    for (const kind of ['summary', 'credential', 'permission', 'returns'] as const) {
      if (!factOfKind(row, kind)) throw new Error(`${row.method} ${row.path} does not declare its ${kind}.`)
    }
  }
}

/** Matches concrete paths against a route's pattern: `:name` stands for one segment. */
export function pathMatcher(pattern: string): RegExp {
  const source = pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+(\\\{[^}]*\\\})?/g, '[^/]+')
  return new RegExp(`^${source}/?$`)
}
