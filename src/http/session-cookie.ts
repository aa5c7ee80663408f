import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'

/** Seconds for which a browser keeps the cookie of somebody who asked to stay signed in. */
const rememberedSeconds = 30 * 86_400

/** Only a secure origin may have a cookie that no other origin can set. */
const isSecure = (panelUrl: string) => panelUrl.startsWith('https://')
const nameAt = (panelUrl: string) => (isSecure(panelUrl) ? '__Host-roost_session' : 'roost_session')

/** The token that the browser sent; whether it is one, the domain knows. */
export const sessionCookie = (c: Context, panelUrl: string): string | null =>
  getCookie(c, nameAt(panelUrl)) ?? null

/**
 * The browser keeps the token where no script reads it, and beside it what scripts have to send back with
 * each change. Both end with the browser unless `remembered`.
 */
export function setSessionCookies(
  c: Context,
  panelUrl: string,
  { token, csrf, remembered }: { token: string; csrf: string; remembered: boolean },
): void {
  const options = {
    path: '/',
    secure: isSecure(panelUrl),
    sameSite: 'Lax' as const,
    ...(remembered ? { maxAge: rememberedSeconds } : {}),
  }
  setCookie(c, nameAt(panelUrl), token, { ...options, httpOnly: true })
  setCookie(c, 'XSRF-TOKEN', csrf, options)
}
