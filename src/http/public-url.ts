import type { Panel } from '../panel.ts'

/** Returns the request's URL under the panel's configured origin: a `Host` header never gets into a link. */
export function publicUrl(c: { req: { url: string }; get: (name: 'panel') => Panel }): string {
  const { url } = c.req
  return c.get('panel').config.url + url.slice(url.indexOf('/', url.indexOf('://') + 3))
}
