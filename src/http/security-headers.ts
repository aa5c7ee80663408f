import type { Context } from 'hono'

/** What a page may do beyond showing itself. */
export type PageRights = {
  /** The scripts that stand in the page carry it, and the styles that its scripts add. */
  nonce: string
  /** Sources of a Content-Security-Policy which its scripts may talk to, besides our own. */
  connections: readonly string[]
  /** Sources of somebody else's scripts, with what these load and show: of a captcha. */
  embedded: readonly string[]
  /** Its address is a secret, which no other site may hear of. */
  hasSecretAddress: boolean
}

/** Seconds for which browsers come by HTTPS alone: a year. */
const httpsOnlySeconds = 31_536_000

/** The answer is a page of ours: nobody frames it, only our scripts run in it, and only our styles dress it. */
export function setPageHeaders(c: Context, panelUrl: string, rights: PageRights): void {
  c.header('content-security-policy', pagePolicy(rights))
  c.header('x-frame-options', 'DENY')
  c.header('cross-origin-opener-policy', 'same-origin')
  c.header('referrer-policy', rights.hasSecretAddress ? 'no-referrer' : 'strict-origin-when-cross-origin')
  if (panelUrl.startsWith('https://')) {
    c.header('strict-transport-security', `max-age=${httpsOnlySeconds}`)
  }
}

/** Sources must be valid ones: they are written as they are. */
function pagePolicy({ nonce, connections, embedded }: PageRights): string {
  const directives: [name: string, ...sources: string[]][] = [
    ['default-src', "'self'"],
    ['script-src', "'self'", `'nonce-${nonce}'`, ...embedded],
    ['style-src', "'self'", `'nonce-${nonce}'`, ...embedded],
    ['object-src', "'none'"],
    ['base-uri', "'none'"],
    ['frame-ancestors', "'none'"],
    ['form-action', "'self'"],
    ['img-src', "'self'", 'data:', 'blob:'],
    ['connect-src', "'self'", ...connections, ...embedded],
    ...(embedded.length > 0 ? [['frame-src', ...embedded] as [string, ...string[]]] : []),
  ]
  return directives.map((directive) => directive.join(' ')).join('; ')
}
