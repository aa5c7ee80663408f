import { createMiddleware } from 'hono/factory'
import { publicUrl } from '../../http/public-url.ts'
import { isLoopbackHost } from '../../ip-addresses.ts'
import type { BrowserEnv } from './middleware.ts'

/** Hosts of pages that a browser opens on its own machine, though they name no machine. */
const unspecifiedHosts = ['0.0.0.0', '[::]']

/**
 * Redirects with 308 from another spelling of this machine to the panel's address, where cookies and passkeys belong.
 * Both must have the same port, so that a proxy that changes `Host` is never sent back to itself.
 * Spec: docs/operations.md#the-address-of-the-panel.
 */
export const redirectLoopback = createMiddleware<BrowserEnv>(async (c, next) => {
  const panel = new URL(c.var.panel.config.url)
  const request = requestAddress(c.req.url, panel)
  const isLocal = isLoopbackHost(request.hostname, true) || unspecifiedHosts.includes(request.hostname)
  const isOtherSpelling = isLocal && isLoopbackHost(panel.hostname, true) && request.host !== panel.host
  if (isOtherSpelling && panel.protocol === 'http:' && request.port === panel.port) {
    return c.redirect(publicUrl(c), 308)
  }
  return next()
})

/** Whether a page was requested at the panel's address, as far as proxies in front of the panel tell. */
export function isAtPanelAddress(requestUrl: string, panelUrl: string): boolean {
  const panel = new URL(panelUrl)
  return requestAddress(requestUrl, panel).host === panel.host
}

/** Returns the requested host under the panel's scheme: proxies in front of the panel may have ended TLS. */
function requestAddress(requestUrl: string, panel: URL): URL {
  return new URL(`${panel.protocol}//${new URL(requestUrl).host}`)
}
