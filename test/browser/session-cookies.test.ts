import { base32 } from 'oslo/encoding'
import { generateHOTP } from 'oslo/otp'
import { beforeEach, describe, expect, it } from 'vitest'
import { sessions, throttles } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { createGuestSession, sessionId } from '../../src/domain/auth/sessions.ts'
import { type Browser, openBrowser, openSignedInBrowser } from '../support/browser.ts'
import { known, makeClientToken, makeUser } from '../support/factories.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
let user: User

const reachAt = (url: string) =>
  void Object.assign(world.services, { config: { ...world.services.config, url } })

beforeEach(async () => {
  reachAt(panelUrl)
  user = await makeUser(world, { username: 'mara', passwordHash: known.passwordHash })
})

const login = (browser: Browser, more: object = {}) =>
  browser.request('POST', '/auth/login', { user: 'mara', password: known.password, ...more })
const rows = () => world.database.db.select().from(sessions)
const isSignedIn = async (browser: Browser) =>
  (await browser.request('GET', '/api/client/account')).status === 200

/** Parses the cookies of a response as name → attributes in lower case, sorted. */
const cookiesOf = (headers: Headers) =>
  Object.fromEntries(
    headers.getSetCookie().map((line) => {
      const [pair = '', ...attributes] = line.split('; ')
      return [pair.split('=')[0], attributes.map((each) => each.toLowerCase()).toSorted()]
    }),
  )

describe('cookies', () => {
  it('AU-5: are for the whole panel, and over https for this host alone', async () => {
    reachAt('https://panel.test')
    const answer = await login(await openBrowser(world))
    expect(cookiesOf(answer.headers)).toEqual({
      '__Host-roost_session': ['httponly', 'path=/', 'samesite=lax', 'secure'],
      'XSRF-TOKEN': ['path=/', 'samesite=lax', 'secure'],
      '__Host-roost_browser': ['httponly', 'max-age=15552000', 'path=/', 'samesite=lax', 'secure'],
    })
  })

  it('do without that over http', async () => {
    const answer = await login(await openBrowser(world))
    expect(cookiesOf(answer.headers)).toEqual({
      roost_session: ['httponly', 'path=/', 'samesite=lax'],
      'XSRF-TOKEN': ['path=/', 'samesite=lax'],
      roost_browser: ['httponly', 'max-age=15552000', 'path=/', 'samesite=lax'],
    })
  })

  it('last a month for a user who stays signed in, as the session does', async () => {
    const browser = await openBrowser(world)
    const answer = await login(browser, { remember: true })
    for (const name of ['roost_session', 'XSRF-TOKEN']) {
      expect(cookiesOf(answer.headers)[name]).toContain('max-age=2592000')
    }
    world.clock.advance(29 * 86_400)
    expect(await isSignedIn(browser)).toBe(true)
    world.clock.advance(31 * 86_400)
    expect(await isSignedIn(browser)).toBe(false)
  })

  it('of http mean nothing over https', async () => {
    const browser = await openSignedInBrowser(world, user)
    reachAt('https://panel.test')
    expect(await isSignedIn(browser)).toBe(false)
  })

  it('of guests leave no row behind', async () => {
    const browser = await openBrowser(world)
    await browser.request('GET', '/sanctum/csrf-cookie')
    expect(await rows()).toEqual([])
  })
})

describe('a token that another person knows', () => {
  it('AU-5: is not the one to which its bearer signs in', async () => {
    const panel = { ...world.panel, ip: '198.51.100.9' }
    const planted = await createGuestSession(panel, {}, { userAgent: 'Attacker', previous: null })
    const victim = await openBrowser(world)
    victim.cookies.set('roost_session', planted.token)
    victim.cookies.delete('XSRF-TOKEN')
    await victim.request('GET', '/sanctum/csrf-cookie')
    expect((await login(victim)).status).toBe(200)
    expect(victim.cookies.get('roost_session')).not.toBe(planted.token)
    expect((await rows()).some(({ id }) => id === sessionId(planted.token))).toBe(false)
    const attacker = await openBrowser(world)
    attacker.cookies.set('roost_session', planted.token)
    expect(await isSignedIn(attacker)).toBe(false)
  })

  it('AU-5: is of no use when it was made up', async () => {
    const madeUp = 'A'.repeat(48)
    const browser = await openBrowser(world)
    for (const token of [madeUp, 'x', '"', '%00', `${madeUp}; roost_session=y`]) {
      browser.cookies.set('roost_session', token)
      expect(await isSignedIn(browser), token).toBe(false)
    }
    browser.cookies.set('roost_session', madeUp)
    await browser.request('GET', '/sanctum/csrf-cookie')
    expect(browser.cookies.get('roost_session')).not.toBe(madeUp)
  })
})

describe('AU-5: a token from before a change of the sign-in methods', () => {
  const passwords = { password: 'another one', password_confirmation: 'another one' }
  const change = async (browser: Browser) => {
    const body = { current_password: known.password, ...passwords }
    return browser.request('PUT', '/api/client/account/password', body)
  }

  it('opens nothing any more, while the browser goes on under another', async () => {
    const browser = await openSignedInBrowser(world, user)
    const thief = await openBrowser(world, { ip: '198.51.100.9' })
    thief.cookies.set('roost_session', browser.cookies.get('roost_session') ?? '')
    expect(await isSignedIn(thief)).toBe(true)
    expect((await change(browser)).status).toBe(204)
    expect([await isSignedIn(browser), await isSignedIn(thief)]).toEqual([true, false])
    expect((await browser.request('POST', '/auth/logout')).status).toBe(204)
  })

  it('is another after a second factor was turned on', async () => {
    const browser = await openSignedInBrowser(world, user)
    const before = browser.cookies.get('roost_session')
    const { secret } = (await browser.request('GET', '/api/client/account/two-factor')).body.data
    const code = await generateHOTP(base32.decode(secret), Math.floor(world.clock.now.getTime() / 30_000))
    const body = { code, password: known.password }
    expect((await browser.request('POST', '/api/client/account/two-factor', body)).status).toBe(200)
    expect(browser.cookies.get('roost_session')).not.toBe(before)
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('stays when the change was refused, and lasts as long as it was to last', async () => {
    const browser = await openBrowser(world)
    await login(browser, { remember: true })
    const refused = await browser.request('PUT', '/api/client/account/password', {
      current_password: 'wrong',
      ...passwords,
    })
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([400, []])
    const changed = await change(browser)
    for (const name of ['roost_session', 'XSRF-TOKEN']) {
      expect(cookiesOf(changed.headers)[name]).toContain('max-age=2592000')
    }
    const token = await makeClientToken(world, user)
    const body = { current_password: 'another one', ...passwords }
    const byKey = await world.request('PUT', '/api/client/account/password', { token, body })
    expect([byKey.status, byKey.headers.getSetCookie()]).toEqual([204, []])
  })
})

describe('a key', () => {
  it('AU-6: opens no route of browsers, with a session or without, and changes nothing', async () => {
    const token = await makeClientToken(world, user)
    const browser = await openSignedInBrowser(world, user)
    for (const [method, path] of [
      ['GET', '/account/security'],
      ['GET', '/account/security/sessions'],
      ['DELETE', '/account/security/sessions'],
      ['POST', '/auth/logout'],
      ['POST', '/auth/login'],
      ['POST', '/auth/passkeys/options'],
    ] as const) {
      for (const authorization of [`Bearer ${token}`, `bearer  ${token}`, 'Bearer', 'Bearer a b']) {
        const body = method === 'GET' ? undefined : { user: 'mara', password: known.password }
        const answer = await browser.request(method, path, body, { headers: { authorization } })
        expect([answer.status, answer.headers.getSetCookie()], `${method} ${path}`).toEqual([401, []])
      }
    }
    expect(await rows()).toHaveLength(1)
    expect(await world.events()).toEqual([])
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('AU-6: decides when a session comes along, right or wrong, and sets no cookie', async () => {
    const other = await makeUser(world)
    const token = await makeClientToken(world, other)
    const browser = await openSignedInBrowser(world, user)
    const ask = (authorization: string) =>
      browser.request('GET', '/api/client/account', undefined, { headers: { authorization } })
    const answer = await ask(`Bearer ${token}`)
    expect(answer.body.attributes.username).toBe(other.username)
    expect(answer.headers.getSetCookie()).toEqual([])
    expect((await ask('Bearer x')).status).toBe(401)
  })
})

describe('who is signed in already', () => {
  it('is sent to the panel instead of signing in again', async () => {
    const browser = await openSignedInBrowser(world, user)
    for (const path of ['/auth/login', '/auth/passkeys/options', '/auth/passkeys/login']) {
      const answer = await browser.request('POST', path, { user: 'mara', password: known.password })
      expect([answer.status, answer.headers.get('location')], path).toEqual([302, '/'])
    }
    expect(await rows()).toHaveLength(1)
    expect(await world.events()).toEqual([])
  })
})

describe('signing out', () => {
  it('ends only this session, and sets the cookies of a guest', async () => {
    const browser = await openSignedInBrowser(world, user)
    const other = await openSignedInBrowser(world, user)
    const before = new Map(browser.cookies)
    expect((await browser.request('POST', '/auth/logout')).status).toBe(204)
    for (const name of ['roost_session', 'XSRF-TOKEN']) {
      expect(browser.cookies.get(name)).not.toBe(before.get(name))
    }
    expect((await login(browser)).status).toBe(200)
    expect(await isSignedIn(other)).toBe(true)
    browser.cookies.set('roost_session', before.get('roost_session') ?? '')
    expect(await isSignedIn(browser)).toBe(false)
  })
})

describe('guesses from many networks', () => {
  it('are not used up by one network alone', async () => {
    const browser = await openBrowser(world, { ip: '198.51.100.1' })
    for (let at = 0; at < 20; at += 1) await login(browser, { password: 'x' })
    const counters = await world.database.db.select().from(throttles)
    const hits = (kind: string) => counters.find(({ key }) => key.startsWith(kind))?.hits
    expect([hits('login:'), hits('login-account:'), hits('login-network:')]).toEqual([20, 5, 20])
  })
})
