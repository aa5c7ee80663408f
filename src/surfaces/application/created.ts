import type { Context } from 'hono'
import type { HttpEnv } from '../../http/environment.ts'

/** The answer to a creation: the resource, and in `meta.resource` the address under which it now stands. */
export const created = <Body extends object>(c: Context<HttpEnv>, path: string, resource: Body) =>
  c.json({ ...resource, meta: { resource: `${c.var.panel.config.url}/api/application/${path}` } }, 201)
