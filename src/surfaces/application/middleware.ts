import type { Context, MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { AclResource } from '../../db/tables/api-keys.ts'
import { type AccessLevel, requireAccessLevel } from '../../domain/auth/access-levels.ts'
import {
  authenticateAdministrator,
  authenticateApplication,
  bearerToken,
  readForCaller,
} from '../../domain/auth/credentials.ts'
import { isSessionToken, matchesCsrfToken } from '../../domain/auth/sessions.ts'
import { requireCsrfToken } from '../../http/csrf.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { withMetadata } from '../../http/metadata.ts'
import { keepRouteData, plannedColumn, routeData } from '../../http/route-data.ts'
import { readSessionCookie } from '../../http/session-cookie.ts'
import { throttle } from '../../http/throttle.ts'

/**
 * Requires an Application key or the browser session of an administrator; of both, the key decides. Refuses with 401
 * and 403, and with 419 a change under a session that a page of another origin sends.
 */
export const applicationCredential = withMetadata(
  { kind: 'credential', name: 'application key or session' },
  createMiddleware<HttpEnv>(async (c, next) => {
    const column = await plannedColumn(c)
    const { actor, data } = await authenticate(c, column)
    keepRouteData(c, column, data)
    c.set('panel', { ...c.var.panel, actor })
    await next()
  }),
)

async function authenticate(c: Context<HttpEnv>, column: PlannedColumn) {
  const { panel } = c.var
  const header = c.req.header('authorization')
  const cookie = header === undefined ? readSessionCookie(c, panel.config.url) : null
  if (cookie === null || !isSessionToken(cookie)) {
    return authenticateApplication(panel, bearerToken(header), column)
  }
  const identified = await authenticateAdministrator(panel, cookie, column)
  requireCsrfToken(c, panel.config.url, matchesCsrfToken(cookie))
  return identified
}

type PlannedColumn = Awaited<ReturnType<typeof plannedColumn>>

/** Declares what the route reads in the statement of the credential, over the caller (`users`). */
export const reads = routeData<HttpEnv>((c, column) => readForCaller(c.var.panel, column))

/**
 * Reads the versions that `If-Match` names for the change of a resource. Weak ones count too, since a proxy that
 * compresses weakens them.
 */
export const expectedVersions = createMiddleware<HttpEnv>(async (c, next) => {
  const header = c.req.header('if-match')
  if (header !== undefined && header.trim() !== '*') {
    const versions = Array.from(header.matchAll(/"([^"]*)"/g), ([, version = '']) => version)
    c.set('panel', { ...c.var.panel, expectedVersions: versions })
  }
  await next()
})

/** Limits the requests of one administrator per minute, over all their keys and sessions. */
export const applicationRateLimit = throttle({
  name: 'application',
  limit: (panel) => panel.config.applicationRateLimit,
  seconds: 60,
  key: (c) => (c.var.panel.actor.kind === 'user' ? c.var.panel.actor.user.uuid : null),
})

/** Requires this level of the caller on the resource. Refuses with 403. */
export const acl = (resource: AclResource, level: AccessLevel): MiddlewareHandler<HttpEnv> =>
  withMetadata(
    { kind: 'permission', name: `${resource} ${level.toUpperCase()}` },
    createMiddleware<HttpEnv>(async (c, next) => {
      requireAccessLevel(c.var.panel, resource, level)
      await next()
    }),
  )

/** Requires root, whatever the levels of their key, or this level. Refuses others with 403. */
export const rootOr = (resource: AclResource, level: AccessLevel): MiddlewareHandler<HttpEnv> =>
  withMetadata(
    { kind: 'permission', name: 'administrator' },
    createMiddleware<HttpEnv>(async (c, next) => {
      const { actor } = c.var.panel
      const isRoot = actor.kind === 'user' && actor.user.rootAdmin
      if (!isRoot) requireAccessLevel(c.var.panel, resource, level)
      await next()
    }),
  )
