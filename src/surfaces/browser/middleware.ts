import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { Acl } from '../../db/tables/api-keys.ts'
import type { Session } from '../../db/tables/sessions.ts'
import type { User } from '../../db/tables/users.ts'
import { administratorAcl, isAdministrator } from '../../domain/auth/administrators.ts'
import {
  createKnownBrowserToken,
  isKnownTo,
  type KnownBrowser,
  readKnownBrowserToken,
} from '../../domain/auth/known-browsers.ts'
import { requireOwnAccount } from '../../domain/auth/caller.ts'
import type { ClientInfo } from '../../domain/auth/login.ts'
import {
  csrfToken,
  findSession,
  isSessionToken,
  matchesCsrfToken,
  type NewSession,
  newSessionToken,
} from '../../domain/auth/sessions.ts'
import { requireTwoFactor } from '../../domain/auth/two-factor-policy.ts'
import { unauthenticated } from '../../errors.ts'
import { isSafeMethod, requireCsrfToken } from '../../http/csrf.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { withMetadata } from '../../http/metadata.ts'
import {
  readKnownBrowserCookie,
  readSessionCookie,
  setKnownBrowserCookie,
  setSessionCookies,
} from '../../http/session-cookie.ts'
import { throttle } from '../../http/throttle.ts'
import { networkOf, siteOf } from '../../ip-addresses.ts'

/** What handlers behind a session find; `session` is null for guests without a stored session, `acl` for users who are not administrators. */
export type BrowserEnv = {
  Variables: HttpEnv['Variables'] & {
    clientInfo: ClientInfo
    session: Session | null
    account: User | null
    acl: Acl | null
  }
}

/**
 * Reads the browser's session and the user who is signed in to it. Refuses bearer keys with 401, changes from
 * pages of another origin with 419, with 403 those of an administrator who acts for a user, and with 400 changes by a user who must set up a second factor first, except
 * signing in and out. Spec: docs/accounts.md#sessions.
 */
export const browserSession = withMetadata(
  { kind: 'credential', name: 'browser session' },
  createMiddleware<BrowserEnv>(async (c, next) => {
    const { panel } = c.var
    if (/^bearer\b/i.test(c.req.header('authorization')?.trim() ?? ''))
      throw unauthenticated('key_refused', 'A key is not accepted here.')
    const cookie = readSessionCookie(c, panel.config.url)
    const token = cookie !== null && isSessionToken(cookie) ? cookie : null
    requireCsrfToken(c, panel.config.url, matchesCsrfToken(token))
    const found = token === null ? null : await findSession(panel, token)
    const knownBrowser = await readKnownBrowser(c)
    c.set('clientInfo', { userAgent: c.req.header('user-agent') ?? '', token, knownBrowser })
    c.set('session', found?.session ?? null)
    c.set('account', found?.user ?? null)
    c.set(
      'acl',
      found?.user && !found.administrator && isAdministrator(found.user)
        ? administratorAcl(found.user, found.roleAcl)
        : null,
    )
    if (found?.user) {
      const { administrator } = found
      if (!administrator && !isExemptFromSecondFactor(c)) requireTwoFactor(found.user, found.required)
      const actor = {
        kind: 'user' as const,
        user: found.user,
        apiKey: null,
        session: { id: found.session.id },
        ...(administrator && { administrator }),
      }
      if (!isSafeMethod(c.req.method) && !endsSession(c)) requireOwnAccount({ actor })
      c.set('panel', { ...panel, actor })
    }
    await next()
  }),
)

async function readKnownBrowser(c: Context<BrowserEnv>): Promise<KnownBrowser | null> {
  const { panel } = c.var
  const cookie = readKnownBrowserCookie(c, panel.config.url)
  return cookie === null ? null : readKnownBrowserToken(panel, cookie)
}

/** Exempts reading, and what a user without a second factor needs to sign in or out. */
const isExemptFromSecondFactor = (c: Context) => c.req.method === 'GET' || c.req.path.startsWith('/auth/')

/** Whether the request signs out, or ends acting for a user. */
const endsSession = (c: Context) => ['/auth/logout', '/auth/acting/leave'].includes(c.req.path)

/**
 * Limits the requests per minute of one network to routes that sign in or change sign-in methods; its IPv6 /48
 * may send four times as many. Spec: docs/accounts.md#sign-in.
 */
export const authRateLimit = throttle({
  name: 'auth',
  limit: 60,
  seconds: 60,
  key: (c) => networkOf(c.var.panel.ip),
  groupKey: (c) => siteOf(c.var.panel.ip),
})

/** Requires a guest. Redirects signed-in users to the panel, as browsers with a stale page expect. */
export const guest = withMetadata(
  { kind: 'permission', name: 'guest' },
  createMiddleware<BrowserEnv>(async (c, next) => (c.var.account ? c.redirect('/', 302) : next())),
)

/** Requires a signed-in user. Refuses guests with 401. */
export const signedIn = withMetadata(
  { kind: 'permission', name: 'signed in' },
  createMiddleware<BrowserEnv>(async (c, next) => {
    if (!c.var.account) throw unauthenticated()
    await next()
  }),
)

/** Sets the cookies of a new session. */
export function sendSessionCookies(c: Context<BrowserEnv>, session: NewSession): void {
  setSessionCookies(c, c.var.panel.config.url, { ...session, csrf: csrfToken(session.token) })
}

/** Sets the cookie with which the browser is known to the account from now on. */
export const sendKnownBrowserCookie = (c: Context<BrowserEnv>, token: string): void =>
  setKnownBrowserCookie(c, c.var.panel.config.url, token)

/** Makes the browser of a signed-in user known when its cookie is missing, or was revoked with another session. */
export async function ensureKnownBrowser(c: Context<BrowserEnv>): Promise<void> {
  const { panel, account, session, clientInfo } = c.var
  if (!account || session?.administratorId || isKnownTo(clientInfo.knownBrowser, account)) return
  sendKnownBrowserCookie(c, await createKnownBrowserToken(panel, account))
}

/**
 * Ensures that the browser can send forms: sets the cookies of its session, or of a new one without stored data.
 * Returns the CSRF token.
 */
export function ensureSession(c: Context<BrowserEnv>): string {
  const { session, clientInfo } = c.var
  const token = session && clientInfo.token ? clientInfo.token : newSessionToken()
  sendSessionCookies(c, { token, remembered: session?.isRemembered ?? false })
  return csrfToken(token)
}

/** Replaces the browser's session by a new one without stored data. */
export const clearSession = (c: Context<BrowserEnv>): void =>
  sendSessionCookies(c, { token: newSessionToken(), remembered: false })
