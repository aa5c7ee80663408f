import { Hono } from 'hono'
import type { HttpEnv } from '../../http/http-env.ts'
import { noCredential, noPermission } from '../../http/public-route.ts'
import { returns, summary } from '../../http/route.ts'

/** The bytes of a name never change. The policy keeps a browser from running them as a page. */
const logoHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; sandbox",
}

/** The logos of the panel, which guests see, too. */
export const logos = new Hono<HttpEnv>().get(
  '/logos/:name',
  summary('Get a logo of the panel'),
  noCredential,
  noPermission,
  returns(200),
  async (c) => {
    const { readLogo } = await import('../../domain/appearance/logos.ts')
    const { bytes, contentType } = await readLogo(c.var.panel, c.req.param('name'))
    return c.body(bytes, 200, { ...logoHeaders, 'content-type': contentType })
  },
)
