import type { Context } from 'hono'
import type { HttpEnv } from '../../http/http-env.ts'

/** Returns the `meta` of a creation: where the resource is. */
export const createdAt = (c: Context<HttpEnv>, path: string) => ({
  resource: `${c.var.panel.config.url}/api/application/${path}`,
})

/** Answers a creation with 201: the resource, and its URL in `meta.resource`. */
export const created = <Body extends object>(c: Context<HttpEnv>, path: string, resource: Body) =>
  c.json({ ...resource, meta: createdAt(c, path) }, 201)
