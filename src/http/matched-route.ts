import type { Context } from 'hono'
import { matchedRoutes } from 'hono/route'

/** Returns the declared pattern of the matched route, or null. The path itself may contain tokens. */
export const matchedRoute = (c: Context): string | null =>
  matchedRoutes(c).find(({ method }) => method !== 'ALL')?.path ?? null

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Returns the method, or `other` for one that HTTP does not define: labels must be few. */
export const methodLabel = (c: Context): string => (knownMethods.has(c.req.method) ? c.req.method : 'other')

const surfaces = ['application', 'client', 'remote']

/** Returns the surface that a path belongs to, from a short list whatever the path is. */
export function surfaceName(c: Context): string {
  const [, first, second = ''] = c.req.path.split('/', 3)
  if (first === 'api') return surfaces.includes(second) ? second : 'browser'
  if (first === 'jobs') return 'jobs'
  return first === 'assets' ? 'assets' : 'browser'
}
