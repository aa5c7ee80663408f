import { fileURLToPath } from 'node:url'
import { serveStatic } from '@hono/node-server/serve-static'
import type { MiddlewareHandler } from 'hono'
import { every, except } from 'hono/combine'
import { compress } from 'hono/compress'
import { etag } from 'hono/etag'

const built = fileURLToPath(new URL('../../dist/web/', import.meta.url))
const files = serveStatic({ root: built })

/** Names that change with what is in them. */
const isNamedByContent = (path: string) => path.startsWith('/assets/')

/** Addresses that stay, and are asked for again each time. */
const revalidated = except((c) => isNamedByContent(c.req.path), etag())

/**
 * The files that `npm run build` wrote. Where their names change with what is in them, browsers keep them for ever;
 * `src/web/public/_headers` says the same to Workers.
 */
export const webAssets: MiddlewareHandler = every(compress(), revalidated, async (c, next) => {
  const answer = (await files(c, next)) ?? c.res
  if (!answer.ok) return answer
  const cached = isNamedByContent(c.req.path) ? 'max-age=31536000, immutable' : 'max-age=0, must-revalidate'
  answer.headers.set('cache-control', `public, ${cached}`)
  return answer
})
