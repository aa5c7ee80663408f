import { Hono } from 'hono'
import { readAvatar } from '../domain/accounts/avatar.ts'
import type { HttpEnv } from '../http/http-env.ts'
import { noCredential, noPermission } from '../http/public-route.ts'
import { returns, summary } from '../http/route.ts'

/** The bytes of a name never change. The policy keeps a browser from running them as a page. */
const avatarHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; sandbox",
}

/** The pictures of users. The function that stores them serves them, too. */
export const avatars = new Hono<HttpEnv>().get(
  '/avatars/:name',
  summary("Get a user's picture"),
  noCredential,
  noPermission,
  returns(200),
  async (c) => {
    const { bytes, contentType } = await readAvatar(c.var.panel, c.req.param('name'))
    for (const [name, value] of Object.entries(avatarHeaders)) c.header(name, value)
    return c.body(bytes, 200, { 'content-type': contentType })
  },
)
