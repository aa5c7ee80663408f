import { Hono } from 'hono'
import { readGuestConfiguration } from '../../domain/setup/guest-configuration.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { noCredential, noPermission } from '../../http/public-route.ts'
import { returns, summary } from '../../http/route.ts'

/** Files of `src/web/public`. */
const icons = [
  ['/icon-192.png', '192x192', 'any'],
  ['/icon-512.png', '512x512', 'any'],
  ['/icon-maskable.png', '512x512', 'maskable'],
] as const

/** The name changes seldom, and browsers ask again when they start the application. */
const cacheControl = 'public, max-age=3600'

/** Describes the application to browsers that install it. Guests see it, too: browsers fetch it without cookies. */
export const manifest = new Hono<HttpEnv>().get(
  '/manifest.webmanifest',
  summary('Describe the application to browsers that install it'),
  noCredential,
  noPermission,
  returns(200),
  async (c) => {
    const { panelName } = await readGuestConfiguration(c.var.panel)
    c.header('cache-control', cacheControl)
    return c.json(
      {
        id: '/',
        name: panelName,
        short_name: panelName,
        start_url: '/',
        scope: '/',
        display: 'standalone',
        background_color: '#f5f6f5',
        theme_color: '#0c6b58',
        icons: icons.map(([src, sizes, purpose]) => ({ src, sizes, type: 'image/png', purpose })),
      },
      200,
      { 'content-type': 'application/manifest+json' },
    )
  },
)
