import { Hono } from 'hono'
import * as z from 'zod'
import type { HttpEnv } from '../../http/http-env.ts'
import { query, returns, summary } from '../../http/route.ts'
import { upload } from '../../http/upload.ts'
import { acl } from './middleware.ts'
import { AccentResource, LogoResource } from './resources/appearance.ts'

/** Bytes of a logo. Spec: docs/limits.md#sizes. */
const maxLogoBytes = 256 * 1024

/** The panel's own accent when the query names none. */
const AccentQuery = () =>
  z.object({
    accent: z
      .string()
      .regex(/^#[0-9a-fA-F]{6}$/, 'regex')
      .default('#0c6b58'),
  })

/** What the settings of the appearance need. Spec: docs/operations.md#appearance. */
export const appearance = new Hono<HttpEnv>()
  .post(
    '/logo',
    summary('Upload a logo, which the settings can name then'),
    acl('settings', 'write'),
    upload('logo', maxLogoBytes),
    returns(200, LogoResource.One),
    async (c) => {
      const { addLogo } = await import('../../domain/appearance/logos.ts')
      return c.json(LogoResource.one(await addLogo(c.var.panel, c.req.valid('form').logo)))
    },
  )

  .get(
    '/accent',
    summary('Show the colours of both themes for an accent colour'),
    acl('settings', 'read'),
    query(AccentQuery),
    returns(200, AccentResource.One),
    async (c) => {
      const { deriveAccent } = await import('../../domain/appearance/accent.ts')
      return c.json(AccentResource.one(deriveAccent(c.req.valid('query').accent)))
    },
  )
