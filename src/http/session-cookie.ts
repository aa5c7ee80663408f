import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'

/** Lifetime of the cookie when the user chose to stay signed in: 30 days. */
const rememberMaxAgeSeconds = 30 * 86_400

/** Lifetime of the cookie of a known browser, as long as its token: 180 days. */
const knownBrowserMaxAgeSeconds = 180 * 86_400

/** Cookies named `__Host-…`, which no other origin can set, need HTTPS. */
const isSecure = (panelUrl: string) => panelUrl.startsWith('https://')
const cookieName = (panelUrl: string) => (isSecure(panelUrl) ? '__Host-roost_session' : 'roost_session')

const knownBrowserCookieName = (panelUrl: string) =>
  isSecure(panelUrl) ? '__Host-roost_browser' : 'roost_browser'

/** Reads the cookie of a browser that has signed in before; the domain checks whether it is signed. */
export const readKnownBrowserCookie = (c: Context, panelUrl: string): string | null =>
  getCookie(c, knownBrowserCookieName(panelUrl)) ?? null

/** Sets that cookie, which scripts cannot read. It outlives the session. */
export const setKnownBrowserCookie = (c: Context, panelUrl: string, token: string): void =>
  setCookie(c, knownBrowserCookieName(panelUrl), token, {
    path: '/',
    secure: isSecure(panelUrl),
    sameSite: 'Lax',
    httpOnly: true,
    maxAge: knownBrowserMaxAgeSeconds,
  })

/** Reads the session cookie; the domain checks whether it is a token. */
export const readSessionCookie = (c: Context, panelUrl: string): string | null =>
  getCookie(c, cookieName(panelUrl)) ?? null

type SessionCookies = { token: string; csrf: string; remembered: boolean; knownBrowserToken?: string }

/**
 * Sets the session cookie, which scripts cannot read, and the CSRF cookie, which they send back with each change.
 * Both end with the browser session unless `remembered`. After a sign-in it also sets the cookie of a known browser.
 */
export function setSessionCookies(
  c: Context,
  panelUrl: string,
  { token, csrf, remembered, knownBrowserToken }: SessionCookies,
): void {
  const options = {
    path: '/',
    secure: isSecure(panelUrl),
    sameSite: 'Lax' as const,
    ...(remembered ? { maxAge: rememberMaxAgeSeconds } : {}),
  }
  setCookie(c, cookieName(panelUrl), token, { ...options, httpOnly: true })
  setCookie(c, 'XSRF-TOKEN', csrf, options)
  if (knownBrowserToken !== undefined) setKnownBrowserCookie(c, panelUrl, knownBrowserToken)
}
