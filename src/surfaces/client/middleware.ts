import type { Context, MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import {
  type AccessTarget,
  authenticateClient,
  authenticateSession,
  bearerToken,
  readForCaller,
  readForServer,
} from '../../domain/auth/credentials.ts'
import { requireOwnAccount } from '../../domain/auth/caller.ts'
import { csrfToken, isSessionToken, matchesCsrfToken, renewSession } from '../../domain/auth/sessions.ts'
import { isGranted, type Permission } from '../../domain/permissions.ts'
import type { ServerAccess } from '../../domain/servers/access.ts'
import { refuseConflict, type ServerConflict } from '../../domain/servers/state.ts'
import { forbidden, notFound } from '../../errors.ts'
import { isSafeMethod, requireCsrfToken } from '../../http/csrf.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { declarePermission, type RouteMetadata, withMetadata } from '../../http/metadata.ts'
import { keepRouteData, plannedColumn, routeData } from '../../http/route-data.ts'
import { readSessionCookie, setSessionCookies } from '../../http/session-cookie.ts'
import { throttle } from '../../http/throttle.ts'
import type { Panel } from '../../panel.ts'

/** What handlers below one server find: the server and what the caller may do there. */
export type ServerEnv = { Variables: HttpEnv['Variables'] & { access: ServerAccess } }

/** What `serverCredential` leaves for `requireServerAccess`; null when the path names no server of the caller. */
type RequestedServerEnv = { Variables: HttpEnv['Variables'] & { requested: ServerAccess | null } }

const credential: RouteMetadata = { kind: 'credential', name: 'client key or session' }

/**
 * Requires a Client API key or a session; of both, the key decides. Does nothing where a mount closer to the
 * route has identified the caller. Refuses with 401 and 403, with 400 a caller who must set up a second factor
 * first, and with 419 a change under a session that a page of another origin sends.
 */
export const clientCredential = withMetadata(
  credential,
  createMiddleware<HttpEnv>(async (c, next) => {
    const panel = c.get('panel')
    if (panel.actor.kind === 'guest') await identify(c, panel)
    await next()
  }),
)

/** Requires the same where a caller sets up a second factor: there they need none yet. */
export const twoFactorSetupCredential = withMetadata(
  credential,
  createMiddleware<HttpEnv>(async (c, next) => {
    await identify(c, c.get('panel'), { skipTwoFactorCheck: true })
    await next()
  }),
)

/** Requires the same below one server, and looks up the caller's access to it in the same statement. */
export const serverCredential = withMetadata(
  credential,
  createMiddleware<RequestedServerEnv>(async (c, next) => {
    c.set('requested', await identify(c, c.get('panel'), { server: c.req.param('server') }))
    await next()
  }),
)

/** Requires access to the server in the path. Refuses with 404, whether it is unknown or not the caller's. */
export const requireServerAccess = createMiddleware<{
  Variables: RequestedServerEnv['Variables'] & ServerEnv['Variables']
}>(async (c, next) => {
  const requested = c.get('requested')
  if (!requested) throw notFound()
  c.set('access', requested)
  await next()
})

/**
 * Identifies the caller by their key or session, and reads in the same statement what the route needs. Returns their
 * access to the server that the target names.
 */
async function identify(c: Context, panel: Panel, target: AccessTarget = {}): Promise<ServerAccess | null> {
  const column = await plannedColumn(c)
  const { actor, access, data } = await authenticate(c, panel, { ...target, column })
  keepRouteData(c, column, data)
  c.set('panel', { ...panel, actor })
  return access
}

async function authenticate(c: Context, panel: Panel, target: AccessTarget) {
  const header = c.req.header('authorization')
  const cookie = header === undefined ? readSessionCookie(c, panel.config.url) : null
  if (cookie === null || !isSessionToken(cookie)) {
    return authenticateClient(panel, bearerToken(header), target)
  }
  const identified = await authenticateSession(panel, cookie, target)
  requireCsrfToken(c, panel.config.url, matchesCsrfToken(cookie))
  return identified
}

/**
 * Refuses with 403 an administrator who acts for the user whatever changes the account, or shows a new secret of its
 * second factor.
 */
export const refuseAccountChangesWhileActing = createMiddleware<HttpEnv>(async (c, next) => {
  if (!isSafeMethod(c.req.method)) requireOwnAccount(c.var.panel)
  await next()
})

/** Does the same for whatever is read, too. */
export const refuseWhileActing = createMiddleware<HttpEnv>(async (c, next) => {
  requireOwnAccount(c.var.panel)
  await next()
})

/** Declares what the route reads in the statement of the credential, over the caller (`users`). */
export const reads = routeData<HttpEnv>((c, column) => readForCaller(c.var.panel, column))

/** Does the same below one server, also over the server and its node (`servers`, `nodes`). */
export const readsOfServer = routeData<ServerEnv>((c, column) =>
  readForServer(c.var.panel, c.var.access, column),
)

/** Gives the caller's browser another token once the request has changed how they sign in; keys stay as they are. */
export const renewSessionAfter = createMiddleware<HttpEnv>(async (c, next) => {
  await next()
  const { panel } = c.var
  const { actor, config } = panel
  if (!c.res.ok || actor.kind !== 'user' || !actor.session) return
  const renewed = await renewSession(panel, actor.session)
  if (renewed) setSessionCookies(c, config.url, { ...renewed, csrf: csrfToken(renewed.token) })
})

/** Limits the requests of one user per minute, over all their keys and sessions. */
export const clientRateLimit = throttle({
  name: 'client',
  limit: (panel) => panel.config.clientRateLimit,
  seconds: 60,
  key: (c) => perUser(c),
})

/** Counts each user on each server. */
export const perUserAndServer = (c: Context<ServerEnv>): string | null => {
  const user = perUser(c)
  return user === null ? null : `${user}:${c.var.access.server.uuid}`
}

/** Counts all users of one server together. */
export const perServer = (c: Context<ServerEnv>): string => c.var.access.server.uuid

/** Counts everything one user does. */
export function perUser(c: Pick<Context<HttpEnv>, 'get'>): string | null {
  const { actor } = c.get('panel')
  return actor.kind === 'user' ? actor.user.uuid : null
}

/** Refuses with 409 while the state of the server allows no action. */
export const available = availableDuring({ everyone: [], administrators: [] })

/** Refuses with 409 while the server is in a state other than those that do no harm here. */
export function availableDuring(allowedStates: {
  everyone: readonly ServerConflict[]
  administrators: readonly ServerConflict[]
}): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const [panel, access] = [c.get('panel'), c.get('access')]
    const isAdministrator = panel.actor.kind === 'user' && panel.actor.user.rootAdmin
    refuseConflict(access, isAdministrator ? allowedStates.administrators : allowedStates.everyone)
    await next()
  }
}

/** Declares that any account with a valid credential may call. */
export const signedIn = declarePermission('any account')

/** Declares that access to the server is enough. */
export const accessToServer = declarePermission('access to server')

/** Requires this permission on the server. Refuses with 403 and `code`. */
export const permission = (name: Permission, code?: string): MiddlewareHandler<ServerEnv> =>
  withMetadata(
    { kind: 'permission', name },
    createMiddleware<ServerEnv>(async (c, next) => {
      requirePermission(c.get('access'), name, code)
      await next()
    }),
  )

/** Refuses with 403 and `code` when the caller lacks the permission on the server. */
export function requirePermission(
  { permissions }: Pick<ServerAccess, 'permissions'>,
  name: Permission,
  code?: string,
): void {
  if (!isGranted(permissions, name))
    throw forbidden('permission_missing', `This needs the permission ${name}.`, {
      code,
      values: { permission: name },
    })
}
