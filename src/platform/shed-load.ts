import type { MiddlewareHandler } from 'hono'
import { overloaded } from '../errors.ts'
import { pendingStatements } from './statement-stats.ts'

/** Statements for each connection that may wait before users are refused; for daemons and jobs twice as many. */
export const maxPendingPerConnection = 32

/** What daemons and jobs report is lost or late when it is refused, so users are refused first. */
const isReport = (path: string) => path.startsWith('/api/remote/') || path.startsWith('/jobs/')
/** What operators look at in such a moment. */
const isMonitoring = (path: string) => path === '/health' || path === '/metrics'

/**
 * Refuses requests with 503 and `Retry-After` while so many statements of this process wait for the database that a
 * further one would wait for long. Spec: docs/limits.md#load.
 */
export const shedLoad = (connections: number): MiddlewareHandler => {
  const maxPending = connections * maxPendingPerConnection
  return async (c, next) => {
    const { path } = c.req
    if (!isMonitoring(path) && pendingStatements() >= (isReport(path) ? 2 : 1) * maxPending)
      throw overloaded('The panel has too much to do. Try again in a moment.')
    await next()
  }
}
