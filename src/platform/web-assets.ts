import { join } from 'node:path'
import { serveStatic } from '@hono/node-server/serve-static'
import type { MiddlewareHandler } from 'hono'
import { every, except } from 'hono/combine'
import { compress } from 'hono/compress'
import { etag } from 'hono/etag'
import { repositoryRoot } from './repository.ts'

const files = serveStatic({ root: join(repositoryRoot, 'dist', 'web') })

/** Whether the name of a file contains the hash of its content. */
const isNamedByContent = (path: string) => path.startsWith('/assets/')

/** Adds an ETag to files whose URL stays the same, since browsers revalidate them. */
const withEtag = except((c) => isNamedByContent(c.req.path), etag())

/**
 * Serves the files that `npm run build` wrote. Browsers cache files that are named by their content for a year;
 * `src/web/public/_headers` says the same for Workers.
 */
export const webAssets: MiddlewareHandler = every(compress(), withEtag, async (c, next) => {
  const response = (await files(c, next)) ?? c.res
  if (!response.ok) return response
  const cached = isNamedByContent(c.req.path) ? 'max-age=31536000, immutable' : 'max-age=0, must-revalidate'
  response.headers.set('cache-control', `public, ${cached}`)
  // It asks the panel for its pages.
  if (c.req.path === '/service-worker.js')
    response.headers.set('content-security-policy', "default-src 'none'; connect-src 'self'")
  return response
})
