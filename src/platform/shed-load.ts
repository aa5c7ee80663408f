import type { HttpBindings } from '@hono/node-server'
import type { MiddlewareHandler } from 'hono'
import { overloaded } from '../errors.ts'
import { encodedPath } from '../http/ambiguous-paths.ts'
import { openAdmission } from './admission.ts'
import { measureLoop } from './loop-load.ts'
import { measureStatementLoad } from './statement-load.ts'

/** Statements for each connection that may wait, however fast they are, before users are refused; for daemons and jobs twice as many. */
export const maxPendingPerConnection = 32
/** Statements for each connection from which on requests wait before they begin: enough that no connection is ever idle. */
const pendingPerConnection = 2
/** Milliseconds that a request of a user may wait for the requests before it; for daemons and jobs twice as many. */
const maxWaitMs = 1000
/** Requests in flight, and statements, that are always taken, as many as a few pages of a browser send at once; for daemons twice as many. */
export const minInFlight = 64

/** Made once: an error with its stack is a tenth of the work of a refusal. */
const refusal = overloaded('panel_overloaded', 'The panel has too much to do. Try again in a moment.')

/** What daemons and jobs report is lost or late when it is refused, so users are refused first. */
const isReport = (path: string) => path.startsWith('/api/remote/') || path.startsWith('/jobs/')
/** What operators look at in such a moment. */
const isMonitoring = (path: string) => path === '/health' || path === '/metrics'
/** Files of the web application, which need neither the database nor long. */
const isAsset = (path: string) => path.startsWith('/assets/')

/** What the bindings of a request say beside those of the HTTP server: when it came, by `performance.now()`, and whether to refuse it. */
export type Arrival = { arrivedAt: number; isRefused: boolean }

/** An app, of which the bindings are those of the HTTP server, or none for a message of the own queue. */
export type AppFetch = (request: Request, bindings?: Partial<HttpBindings>) => Response | Promise<Response>

/** Keeps the load of a process in its limits. */
export type LoadShedding = {
  /** Returns an app that is called once a request is admitted: until then it holds nothing of it but its socket. */
  admitRequests: (app: AppFetch) => (request: Request, bindings?: Partial<HttpBindings>) => Promise<Response>
  /** Answers what came when there was too much to do with 503 and `Retry-After`. */
  refuse: MiddlewareHandler
}

/**
 * Refuses requests while a further one would wait for long: so many statements of this process wait for the database,
 * or so many requests for its event loop, by how fast either has been lately. Spec: docs/limits.md#load.
 */
export function shedLoad(connections: number, maxWait = maxWaitMs): LoadShedding {
  const maxPending = connections * maxPendingPerConnection
  const loop = measureLoop()
  const admission = openAdmission(pendingPerConnection * connections)
  const database = measureStatementLoad(connections, admission.waiting)
  const isOverloaded = (factor: number) =>
    database.pending() >= factor * maxPending ||
    (database.pending() >= factor * minInFlight && database.waitMs() > factor * maxWait) ||
    (loop.inFlight() >= factor * minInFlight && loop.waitMs() > factor * maxWait)
  const admitRequests: LoadShedding['admitRequests'] = (app) => async (request, bindings) => {
    const path = encodedPath(request.url)
    if (isAsset(path)) return app(request, bindings)
    const isRefused = !isMonitoring(path) && isOverloaded(isReport(path) ? 2 : 1)
    const env: Partial<HttpBindings> & Arrival = { ...bindings, arrivedAt: performance.now(), isRefused }
    if (isRefused) return app(request, env)
    const end = loop.begin()
    // Work goes on until the last byte of an answer is sent; a message of the own queue has no socket.
    env.outgoing?.once('close', end)
    const admitted = isMonitoring(path) ? null : admission.enter()
    if (admitted) await admitted
    try {
      return await app(request, env)
    } finally {
      admission.admit()
      if (!env.outgoing) end()
    }
  }
  const refuse: MiddlewareHandler = async (c, next) => {
    if ((c.env as Partial<Arrival> | undefined)?.isRefused) throw refusal
    await next()
  }
  return { admitRequests, refuse }
}
