import type { Context, MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import { renewSession } from '../../domain/account/sessions.ts'
import { bearerToken, identifyClient, identifySession, type ReachedServer } from '../../domain/credentials.ts'
import { type GrantedPermissions, isGranted, type Permission } from '../../domain/permissions.ts'
import { csrfToken, isCsrfTokenOf, isSessionToken } from '../../domain/sessions.ts'
import { refuseConflict, type ServerConflict } from '../../domain/server-state.ts'
import { forbidden, notFound } from '../../errors.ts'
import { requireSameOrigin } from '../../http/csrf.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { stating } from '../../http/facts.ts'
import { sessionCookie, setSessionCookies } from '../../http/session-cookie.ts'
import { throttle } from '../../http/throttle.ts'

/** What every handler of the Client API finds; `reached` is null when the path names no server the caller reaches. */
export type ClientEnv = { Variables: HttpEnv['Variables'] & { reached: ReachedServer | null } }

/** What handlers below one server find. */
export type ServerEnv = {
  Variables: HttpEnv['Variables'] & {
    reached: ReachedServer
    server: ReachedServer['server']
    node: ReachedServer['node']
    permissions: GrantedPermissions
  }
}

/**
 * The caller holds a Client API key, or is signed in; what he reaches of the server in the path comes along.
 * Of both the key decides. Refuses with 401 and 403, and with 419 what a foreign page sends under a session.
 */
export const clientCredential = stating(
  { kind: 'credential', name: 'client key or session' },
  createMiddleware<ClientEnv>(async (c, next) => {
    const { panel } = c.var
    const { actor, reached } = await identify(c, panel)
    c.set('panel', { ...panel, actor })
    c.set('reached', reached)
    await next()
  }),
)

async function identify(c: Context<ClientEnv>, panel: ClientEnv['Variables']['panel']) {
  const { path } = c.req
  const options = { exempt: whereSecondFactorsAreSetUp.test(path) }
  const key = c.req.header('authorization')
  const cookie = key === undefined ? sessionCookie(c, panel.config.url) : null
  if (cookie === null || !isSessionToken(cookie)) {
    return identifyClient(panel, bearerToken(key), serverNameIn(path), options)
  }
  const identified = await identifySession(panel, cookie, serverNameIn(path), options)
  requireSameOrigin(c, panel.config.url, isCsrfTokenOf(cookie))
  return identified
}

/** Once it has changed how the caller signs in, his browser has another token. Keys stay as they are. */
export const renewingSession = createMiddleware<ClientEnv>(async (c, next) => {
  await next()
  const { panel } = c.var
  const { actor, config } = panel
  if (!c.res.ok || actor.kind !== 'user' || !actor.session) return
  const renewed = await renewSession(panel, actor.session)
  if (renewed) setSessionCookies(c, config.url, { ...renewed, csrf: csrfToken(renewed.token) })
})

const whereSecondFactorsAreSetUp = /^\/api\/client\/account(\/two-factor(\/.*)?)?\/?$/

const serverNameIn = (path: string) => /^\/api\/client\/servers\/([^/]+)/.exec(path)?.[1] ?? null

/** Requests a minute of one person, over all of his keys. */
export const clientRateLimit = throttle({
  name: 'client',
  limit: (panel) => panel.config.clientRateLimit,
  seconds: 60,
  key: (c) => perUser(c),
})

/** For throttles that count each person on each server. */
export const perUserAndServer = (c: Context<HttpEnv>): string | null => {
  const { reached } = (c as unknown as Context<ClientEnv>).var
  const user = perUser(c)
  return user === null || reached === null ? null : `${user}:${reached.server.uuid}`
}

/** For throttles that count everybody on one server together. */
export const perServer = (c: Context<HttpEnv>): string | null =>
  (c as unknown as Context<ClientEnv>).var.reached?.server.uuid ?? null

/** For throttles that count everything one person does. */
export const perUser = (c: Context<HttpEnv>) =>
  c.var.panel.actor.kind === 'user' ? c.var.panel.actor.user.uuid : null

/** The server in the path is there for the caller. Refuses with 404, be it unknown or another's. */
export const reachable = createMiddleware<ServerEnv>(async (c, next) => {
  const reached: ReachedServer | null = c.var.reached
  if (!reached) throw notFound()
  c.set('server', reached.server)
  c.set('node', reached.node)
  c.set('permissions', reached.permissions)
  await next()
})

/** The state of the server allows action. Refuses with 409. */
export const available = availableDespite({ everyone: [], administrators: [] })

/** The same where some states do no harm, to everyone or to administrators. Refuses the others with 409. */
export function availableDespite(tolerated: {
  everyone: readonly ServerConflict[]
  administrators: readonly ServerConflict[]
}): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const { panel, reached } = c.var
    const isAdministrator = panel.actor.kind === 'user' && panel.actor.user.rootAdmin
    refuseConflict(reached, isAdministrator ? tolerated.administrators : tolerated.everyone)
    await next()
  }
}

/** Any person with a valid credential will do. */
export const signedIn: MiddlewareHandler<ClientEnv> = stating(
  { kind: 'permission', name: 'any account' },
  createMiddleware<ClientEnv>(async (_c, next) => next()),
)

/** Reaching the server is enough. */
export const access: MiddlewareHandler<ServerEnv> = stating(
  { kind: 'permission', name: 'access to server' },
  createMiddleware<ServerEnv>(async (_c, next) => next()),
)

/** The caller must hold this permission on the server. Refuses with 403 and `code`. */
export const permission = (name: Permission, code?: string): MiddlewareHandler<ServerEnv> =>
  stating(
    { kind: 'permission', name },
    createMiddleware<ServerEnv>(async (c, next) => {
      requirePermission(c.var.permissions, name, code)
      await next()
    }),
  )

/** Refuses with 403 when the list does not grant the permission. */
export function requirePermission(granted: GrantedPermissions, name: Permission, code?: string): void {
  if (!isGranted(granted, name)) throw forbidden(`This needs the permission ${name}.`, code)
}
