import { createMiddleware } from 'hono/factory'
import type { MiddlewareHandler } from 'hono'
import type { AclResource } from '../../db/tables/api-keys.ts'
import { bearerToken, identifyApplication } from '../../domain/credentials.ts'
import { forbidden } from '../../errors.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { stating } from '../../http/facts.ts'
import { throttle } from '../../http/throttle.ts'
import type { Actor } from '../../panel.ts'

const levels = { read: 1, write: 2 } as const

/** The caller holds an Application key of an administrator. Refuses with 401 and 403. */
export const applicationKey = stating(
  { kind: 'credential', name: 'application key' },
  createMiddleware<HttpEnv>(async (c, next) => {
    const { panel } = c.var
    const actor = await identifyApplication(panel, bearerToken(c.req.header('authorization')))
    c.set('panel', { ...panel, actor })
    await next()
  }),
)

/** Requests a minute of one administrator, over all of his keys. */
export const applicationRateLimit = throttle({
  name: 'application',
  limit: (panel) => panel.config.applicationRateLimit,
  seconds: 60,
  key: (c) => (c.var.panel.actor.kind === 'user' ? c.var.panel.actor.user.uuid : null),
})

/** The key must hold this level on the resource. Refuses with 403. */
export const acl = (resource: AclResource, level: keyof typeof levels): MiddlewareHandler<HttpEnv> =>
  stating(
    { kind: 'permission', name: `${resource} ${level.toUpperCase()}` },
    createMiddleware<HttpEnv>(async (c, next) => {
      if (!mayAccess(c.var.panel.actor, resource, level)) {
        throw forbidden(`This key may not ${level} ${resource.replace('_', ' ')}.`)
      }
      await next()
    }),
  )

/** Any Application key of an administrator will do: the table of the specification names no level. */
export const administrator: MiddlewareHandler<HttpEnv> = stating(
  { kind: 'permission', name: 'administrator' },
  createMiddleware<HttpEnv>(async (_c, next) => next()),
)

/** Whether the key of the caller holds the level on the resource. */
export function mayAccess(actor: Actor, resource: AclResource, level: keyof typeof levels): boolean {
  const held = actor.kind === 'user' ? (actor.apiKey?.acl[resource] ?? 0) : 0
  return (held & levels[level]) !== 0
}
