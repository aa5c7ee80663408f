import type { Panel } from '../panel.ts'
import { requestTarget } from './ambiguous-paths.ts'

/** Returns the request's URL under the panel's configured origin: a `Host` header never gets into a link. */
export const publicUrl = (c: { req: { url: string }; get: (name: 'panel') => Panel }): string =>
  c.get('panel').config.url + requestTarget(c.req.url)
