import type { Panel } from '../panel.ts'

/** Returns the request's URL under the panel's configured origin: a `Host` header never gets into a link. */
export function publicUrl(c: { req: { url: string }; var: { panel: Panel } }): string {
  const { pathname, search } = new URL(c.req.url)
  return `${c.var.panel.config.url}${pathname}${search}`
}
