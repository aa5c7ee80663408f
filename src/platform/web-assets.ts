import { fileURLToPath } from 'node:url'
import { serveStatic } from '@hono/node-server/serve-static'
import type { MiddlewareHandler } from 'hono'
import { every } from 'hono/combine'
import { compress } from 'hono/compress'

const built = fileURLToPath(new URL('../../dist/web/', import.meta.url))
const files = serveStatic({ root: built })

/**
 * The files that `npm run build` wrote. Their names change with what is in them, so browsers keep them for ever;
 * `src/web/public/_headers` says the same to Workers.
 */
export const webAssets: MiddlewareHandler = every(compress(), async (c, next) => {
  const answer = (await files(c, next)) ?? c.res
  if (answer.ok) answer.headers.set('cache-control', 'public, max-age=31536000, immutable')
  return answer
})
