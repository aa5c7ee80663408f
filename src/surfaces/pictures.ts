import { Hono } from 'hono'
import { readAvatar } from '../domain/account/avatar.ts'
import type { HttpEnv } from '../http/environment.ts'
import { anybody, noCredential } from '../http/open-route.ts'
import { returns, summary } from '../http/route.ts'

/** A name stands for the same bytes for ever. Should a browser take them for a page, it may do nothing. */
const pictureHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; sandbox",
}

/** Pictures of accounts, where pages look for them. The function that stores them shows them, too. */
export const pictures = new Hono<HttpEnv>().get(
  '/avatars/:name',
  summary('Show a picture that somebody chose'),
  noCredential,
  anybody,
  returns(200),
  async (c) => {
    const { bytes, contentType } = await readAvatar(c.var.panel, c.req.param('name'))
    for (const [name, value] of Object.entries(pictureHeaders)) c.header(name, value)
    return c.body(bytes, 200, { 'content-type': contentType })
  },
)
