import type { Context } from 'hono'
import { matchedRoutes } from 'hono/route'

/** The pattern of the route that answers, as it is declared; null where no route does. Never the path, which may hold tokens. */
export const matchedRoute = (c: Context): string | null =>
  matchedRoutes(c).find(({ method }) => method !== 'ALL')?.path ?? null

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The method, or `other`: callers may call theirs as they like. */
export const knownMethod = (c: Context): string => (methods.has(c.req.method) ? c.req.method : 'other')

const surfaces = ['application', 'client', 'remote']

/** Which surface the path belongs to: a word of a short list, whatever the path is. */
export function surfaceOf(c: Context): string {
  const [, first, second = ''] = c.req.path.split('/', 3)
  if (first === 'api') return surfaces.includes(second) ? second : 'browser'
  if (first === 'jobs') return 'jobs'
  return first === 'assets' ? 'assets' : 'browser'
}
