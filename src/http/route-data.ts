import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { DataColumn } from '../db/data-column.ts'
import { isDeclaredJson } from './request-body.ts'

/** Builds from a request the column that its route needs. It may throw what the route refuses. */
type Plan<Data> = (c: Context) => DataColumn<Data> | Promise<DataColumn<Data>>

/** What handlers behind `reads` find. */
export type DataEnv<Data> = { Variables: { data: Data } }

const planKey = Symbol('route data')
type Planned = { [planKey]?: Plan<unknown> }

/** Names the variable in which the credential leaves what its statement has read. */
const readKey = 'readWithCredential'

/**
 * Returns the middleware `reads`, by which a route says what it needs from the database. The credential of its surface
 * selects it beside the caller, so that both take one statement, and the handler finds it as `c.var.data`. It stands
 * after everything that refuses. `readAlone` runs where the credential could not: a plan that needs the body.
 */
export const routeData =
  <Env extends object>(readAlone: <Data>(c: Context<Env>, column: DataColumn<Data>) => Promise<Data>) =>
  <Data>(plan: Plan<Data>): MiddlewareHandler<Env & DataEnv<Data>> => {
    const middleware: MiddlewareHandler = async (c, next) => {
      const read = c.get(readKey) as { data: Data } | undefined
      c.set(readKey, undefined)
      c.set('data', read ? read.data : await readAlone(c, await plan(c)))
      await next()
      // V8 keeps what an old object leads to until it collects all garbage, and the context of a request that has waited is old.
      c.set('data', undefined)
    }
    return Object.assign(middleware, { [planKey]: plan })
  }

/**
 * Returns the column that the matched route reads; null when it reads none, and when the request does not say yet
 * which: its body is not read before the caller is known, and what the plan refuses is refused in its place.
 */
export async function plannedColumn(c: Context): Promise<DataColumn<unknown> | null> {
  const plan = findPlan(c)
  if (!plan || (isDeclaredJson(c) && announcesBody(c))) return null
  try {
    return await plan(c)
  } catch {
    return null
  }
}

/** Whether the request has a body: many clients declare one that they do not send. */
const announcesBody = (c: Context): boolean =>
  (c.req.header('content-length') ?? '0') !== '0' || c.req.header('transfer-encoding') !== undefined

/** Leaves what the credential's statement has read for the route. */
export function keepRouteData(c: Context, column: DataColumn<unknown> | null, data: unknown): void {
  if (column) c.set(readKey, { data })
}

/** Finds the plan of the route that answers, the first one that matches. */
function findPlan(c: Context): Plan<unknown> | undefined {
  const routes = matchedRoutes(c)
  const path = routes.find(({ method }) => method !== 'ALL')?.path
  const planned = routes.find((route) => route.path === path && planKey in route.handler)
  return (planned?.handler as Planned | undefined)?.[planKey]
}
