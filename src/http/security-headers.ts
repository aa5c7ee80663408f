import type { Context } from 'hono'

/** What a page may load and connect to. */
export type PageHeaderOptions = {
  /** Of the inline scripts, and of the styles that scripts add. */
  nonce: string
  /** Content-Security-Policy sources that its scripts may connect to, besides the panel. */
  connectSources: readonly string[]
  /** Content-Security-Policy sources of third-party scripts and frames: those of a captcha. */
  embedSources: readonly string[]
  /** Whether its URL contains a secret, which must not leave as a referrer. */
  hasSecretUrl: boolean
}

/** One year, for which browsers use HTTPS only. */
const hstsMaxAgeSeconds = 31_536_000

/** Sets the headers of a page: no framing, and only the panel's own scripts and styles. */
export function setPageHeaders(c: Context, panelUrl: string, options: PageHeaderOptions): void {
  c.header('content-security-policy', contentSecurityPolicy(options))
  c.header('x-frame-options', 'DENY')
  c.header('cross-origin-opener-policy', 'same-origin')
  c.header('referrer-policy', options.hasSecretUrl ? 'no-referrer' : 'strict-origin-when-cross-origin')
  if (panelUrl.startsWith('https://')) {
    c.header('strict-transport-security', `max-age=${hstsMaxAgeSeconds}`)
  }
}

/** Builds the policy; sources are written as they are, so they must be valid. */
function contentSecurityPolicy({ nonce, connectSources, embedSources }: PageHeaderOptions): string {
  const directives: [name: string, ...sources: string[]][] = [
    ['default-src', "'self'"],
    ['script-src', "'self'", `'nonce-${nonce}'`, ...embedSources],
    ['style-src', "'self'", `'nonce-${nonce}'`, ...embedSources],
    ['object-src', "'none'"],
    ['base-uri', "'none'"],
    ['frame-ancestors', "'none'"],
    ['form-action', "'self'"],
    ['img-src', "'self'", 'data:', 'blob:'],
    ['connect-src', "'self'", ...connectSources, ...embedSources],
    ...(embedSources.length > 0 ? [['frame-src', ...embedSources] as [string, ...string[]]] : []),
  ]
  return directives.map((directive) => directive.join(' ')).join('; ')
}
