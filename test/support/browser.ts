import type { User } from '../../src/db/tables/users.ts'
import { createSession, csrfToken } from '../../src/domain/auth/sessions.ts'
import type { Answer } from './answers.ts'
import type { RequestOptions, World } from './world.ts'

/** A browser on a page of the panel: it keeps cookies, and sends the headers that pages send. */
export type Browser = {
  cookies: Map<string, string>
  request: (method: string, path: string, body?: unknown, options?: RequestOptions) => Promise<Answer>
}

/** Opens a browser with the cookies of a guest. */
export async function openBrowser(world: World, options: RequestOptions = {}): Promise<Browser> {
  const cookies = new Map<string, string>()
  const browser: Browser = {
    cookies,
    request: async (method, path, body, more = {}) => {
      const headers = {
        origin: world.services.config.url,
        'user-agent': 'Test browser',
        ...(cookies.size > 0
          ? { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
          : {}),
        ...(cookies.has('XSRF-TOKEN') ? { 'x-xsrf-token': cookies.get('XSRF-TOKEN') ?? '' } : {}),
        ...options.headers,
        ...more.headers,
      }
      const sent = { ...options, ...more, headers, ...(body === undefined ? {} : { body }) }
      const answer = await world.request(method, path, sent)
      for (const line of answer.headers.getSetCookie()) keep(cookies, line)
      return answer
    },
  }
  await browser.request('GET', '/sanctum/csrf-cookie')
  return browser
}

/** Opens a browser in which the account is signed in, without hashing a password. */
export async function openSignedInBrowser(
  world: World,
  user: Pick<User, 'id' | 'authVersion'>,
  options: RequestOptions = {},
): Promise<Browser> {
  const browser = await openBrowser(world, options)
  const panel = { ...world.panel, ip: options.ip ?? '192.0.2.1' }
  const { token } = await createSession(panel, user, {
    userAgent: 'Test browser',
    remember: false,
    previous: null,
  })
  browser.cookies.set(sessionCookieName(world), token)
  browser.cookies.set('XSRF-TOKEN', csrfToken(token))
  return browser
}

/** Returns the name of the session cookie: over https it is bound to the host. */
export const sessionCookieName = (world: World): string =>
  world.services.config.url.startsWith('https:') ? '__Host-roost_session' : 'roost_session'

/** Builds the headers that a page of the panel sends under this session. */
export const pageHeaders = (world: World, token: string): Record<string, string> => ({
  origin: world.services.config.url,
  cookie: `${sessionCookieName(world)}=${token}`,
  'x-xsrf-token': csrfToken(token),
})

function keep(cookies: Map<string, string>, line: string): void {
  const [pair = ''] = line.split(';')
  const at = pair.indexOf('=')
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
  if (value === '' || /max-age=0/i.test(line)) cookies.delete(name)
  else cookies.set(name, value)
}
