import type { Context } from 'hono'
import { ApiError, type Reason } from '../errors.ts'

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Whether a method only reads. */
export const isSafeMethod = (method: string) => safeMethods.has(method)

/**
 * Requires a changing request under a session cookie to come from the panel's own pages, with the session's CSRF
 * token in `X-XSRF-TOKEN` or `X-CSRF-TOKEN`. Refuses other requests with 419, whatever their content type.
 * Spec: docs/api.md#browser-sessions.
 */
export function requireCsrfToken(
  c: Context,
  panelUrl: string,
  isValidToken: (token: string) => boolean,
): void {
  if (isSafeMethod(c.req.method)) return
  if (!isSameOrigin(c, panelUrl))
    throw csrfMismatch('request_foreign', 'The request does not come from a page of this panel.')
  const sentToken = c.req.header('x-xsrf-token') ?? c.req.header('x-csrf-token') ?? ''
  if (!isValidToken(decodeToken(sentToken))) {
    throw csrfMismatch('page_expired', 'The page has expired. Reload it and try again.')
  }
}

/** Current browsers send `Origin` or `Sec-Fetch-Site`; a request with neither is refused. */
function isSameOrigin(c: Context, panelUrl: string): boolean {
  const { origin } = new URL(panelUrl)
  const originHeader = c.req.header('origin')
  if (originHeader !== undefined) return originHeader === origin
  return c.req.header('sec-fetch-site') === 'same-origin'
}

const csrfMismatch = (reason: Reason, detail: string) =>
  new ApiError(419, [{ code: 'HttpException', detail, meta: { reason } }])

/** Decodes the token: libraries send the cookie's value either encoded or decoded. */
function decodeToken(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
