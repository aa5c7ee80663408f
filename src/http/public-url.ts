import type { Panel } from '../panel.ts'

/** Returns the request's URL under the panel's configured origin: a `Host` header never gets into a link. */
export function publicUrl(c: { req: { url: string }; get: (name: 'panel') => Panel }): string {
  const { pathname, search } = new URL(c.req.url)
  return `${c.get('panel').config.url}${pathname}${search}`
}
