import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { Session } from '../../db/tables/sessions.ts'
import type { User } from '../../db/tables/users.ts'
import type { Visitor } from '../../domain/login.ts'
import { requireSecondFactor } from '../../domain/second-factor-policy.ts'
import {
  csrfToken,
  findSession,
  isCsrfTokenOf,
  isSessionToken,
  newSessionToken,
  type OpenedSession,
} from '../../domain/sessions.ts'
import { networkOf, siteOf } from '../../domain/throttles.ts'
import { unauthenticated } from '../../errors.ts'
import { requireSameOrigin } from '../../http/csrf.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { stating } from '../../http/facts.ts'
import { sessionCookie, setSessionCookies } from '../../http/session-cookie.ts'
import { throttle } from '../../http/throttle.ts'

/** What handlers behind a session find; `session` is null for guests of whom nothing must be remembered. */
export type BrowserEnv = {
  Variables: HttpEnv['Variables'] & { visitor: Visitor; session: Session | null; account: User | null }
}

/**
 * The browser's session, with the account that is signed in to it. Whatever changes something must come from
 * our pages. Refuses bearer keys with 401, foreign pages with 419, and with 400 changes by somebody who must have
 * a second factor and has none, but those of signing in and out. Spec: Authentication, 7.
 */
export const browserSession = stating(
  { kind: 'credential', name: 'browser session' },
  createMiddleware<BrowserEnv>(async (c, next) => {
    const { panel } = c.var
    if (/^bearer\b/i.test(c.req.header('authorization')?.trim() ?? ''))
      throw unauthenticated('A key is not accepted here.')
    const cookie = sessionCookie(c, panel.config.url)
    const token = cookie !== null && isSessionToken(cookie) ? cookie : null
    requireSameOrigin(c, panel.config.url, isCsrfTokenOf(token))
    const found = token === null ? null : await findSession(panel, token)
    c.set('visitor', { userAgent: c.req.header('user-agent') ?? '', token })
    c.set('session', found?.session ?? null)
    c.set('account', found?.user ?? null)
    if (found?.user) {
      if (!isExempt(c)) requireSecondFactor(found.user, found.required)
      const actor = {
        kind: 'user' as const,
        user: found.user,
        apiKey: null,
        session: { id: found.session.id },
      }
      c.set('panel', { ...panel, actor })
    }
    await next()
  }),
)

/** Views, and what somebody without a second factor has to reach to get one, or to leave. */
const isExempt = (c: Context) => c.req.method === 'GET' || c.req.path.startsWith('/auth/')

/**
 * Requests a minute from one network to what signs in, or guards how somebody does; four times as many from the
 * /48 of IPv6 around it. Spec: Browser authentication.
 */
export const authRateLimit = throttle({
  name: 'auth',
  limit: 60,
  seconds: 60,
  key: (c) => networkOf(c.var.panel.ip),
  groupKey: (c) => siteOf(c.var.panel.ip),
})

/** Nobody is signed in yet. Sends others to the panel, as browsers that follow a stale page expect. */
export const guest = stating(
  { kind: 'permission', name: 'guest' },
  createMiddleware<BrowserEnv>(async (c, next) => (c.var.account ? c.redirect('/', 302) : next())),
)

/** Somebody is signed in. Refuses guests with 401. */
export const signedIn = stating(
  { kind: 'permission', name: 'signed in' },
  createMiddleware<BrowserEnv>(async (c, next) => {
    if (!c.var.account) throw unauthenticated()
    await next()
  }),
)

/** Guests and others alike. */
export const everybody = stating(
  { kind: 'permission', name: 'anybody' },
  createMiddleware<BrowserEnv>(async (_c, next) => next()),
)

/** The browser has this session from now on. */
export function keepSession(c: Context<BrowserEnv>, { token, remembered }: OpenedSession): void {
  setSessionCookies(c, c.var.panel.config.url, { token, csrf: csrfToken(token), remembered })
}

/**
 * The browser has what it needs to send forms: a session that nothing is remembered of, unless it has one.
 * Gives what its forms have to send back.
 */
export function offerSession(c: Context<BrowserEnv>): string {
  const { session, visitor } = c.var
  const token = session && visitor.token ? visitor.token : newSessionToken()
  keepSession(c, { token, remembered: session?.isRemembered ?? false })
  return csrfToken(token)
}

/** The same without anything of the session before. */
export const forgetSession = (c: Context<BrowserEnv>): void =>
  keepSession(c, { token: newSessionToken(), remembered: false })
