import type { Context } from 'hono'
import { ApiError } from '../errors.ts'

const reading = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * A request under the cookies of a session changes something only when it comes from a page of ours and shows
 * what only such a page can read: the header `X-XSRF-TOKEN`, or `X-CSRF-TOKEN`. Refuses the others with 419,
 * whatever their content type. Spec: Browser authentication, CSRF.
 */
export function requireSameOrigin(c: Context, panelUrl: string, isOurs: (token: string) => boolean): void {
  if (reading.has(c.req.method)) return
  if (!isFromOurPages(c, panelUrl)) throw mismatch('The request does not come from a page of this panel.')
  const shown = c.req.header('x-xsrf-token') ?? c.req.header('x-csrf-token') ?? ''
  if (!isOurs(decoded(shown))) {
    throw mismatch('The page is out of date. Load it again.')
  }
}

/** Browsers say where a request comes from; one that says nothing is no browser of today. */
function isFromOurPages(c: Context, panelUrl: string): boolean {
  const { origin } = new URL(panelUrl)
  const claimed = c.req.header('origin')
  if (claimed !== undefined) return claimed === origin
  return c.req.header('sec-fetch-site') === 'same-origin'
}

const mismatch = (detail: string) => new ApiError(419, [{ code: 'HttpException', detail }])

/** Libraries send the cookie as it is written there, or decoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
