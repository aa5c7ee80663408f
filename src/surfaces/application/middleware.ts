import type { MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { AclResource } from '../../db/tables/api-keys.ts'
import { type AccessLevel, requireAccessLevel } from '../../domain/auth/access-levels.ts'
import { authenticateApplication, bearerToken, readForCaller } from '../../domain/auth/credentials.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { declarePermission, withMetadata } from '../../http/metadata.ts'
import { keepRouteData, plannedColumn, routeData } from '../../http/route-data.ts'
import { throttle } from '../../http/throttle.ts'

/** Requires an Application key of an administrator. Refuses with 401 and 403. */
export const applicationKey = withMetadata(
  { kind: 'credential', name: 'application key' },
  createMiddleware<HttpEnv>(async (c, next) => {
    const { panel } = c.var
    const token = bearerToken(c.req.header('authorization'))
    const column = await plannedColumn(c)
    const { actor, data } = await authenticateApplication(panel, token, column)
    keepRouteData(c, column, data)
    c.set('panel', { ...panel, actor })
    await next()
  }),
)

/** Declares what the route reads in the statement of the key, over the caller (`users`). */
export const reads = routeData<HttpEnv>((c, column) => readForCaller(c.var.panel, column))

/** Limits the requests of one administrator per minute, over all their keys. */
export const applicationRateLimit = throttle({
  name: 'application',
  limit: (panel) => panel.config.applicationRateLimit,
  seconds: 60,
  key: (c) => (c.var.panel.actor.kind === 'user' ? c.var.panel.actor.user.uuid : null),
})

/** Requires this level on the resource of the caller's key. Refuses with 403. */
export const acl = (resource: AclResource, level: AccessLevel): MiddlewareHandler<HttpEnv> =>
  withMetadata(
    { kind: 'permission', name: `${resource} ${level.toUpperCase()}` },
    createMiddleware<HttpEnv>(async (c, next) => {
      requireAccessLevel(c.var.panel, resource, level)
      await next()
    }),
  )

/** Declares that any Application key will do, whatever its levels: it belongs to an administrator. */
export const administrator = declarePermission('administrator')
