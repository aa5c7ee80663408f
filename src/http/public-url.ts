import type { Panel } from '../panel.ts'

/** The address of the request under the panel's configured origin: what a `Host` header says never gets into a link. */
export function publicUrl(c: { req: { url: string }; var: { panel: Panel } }): string {
  const { pathname, search } = new URL(c.req.url)
  return `${c.var.panel.config.url}${pathname}${search}`
}
