import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, passkeys, sessions } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { mergeSessionData, sessionId } from '../../src/domain/auth/sessions.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { type Authenticator, openAuthenticator } from '../support/authenticator.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { known, makeUser } from '../support/factories.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { useWorld } from '../support/world.ts'
import {
  requestSignInOptions,
  giveAuthenticator,
  isSignedIn,
  origin,
  setPanelUrl,
  signInWith,
} from './passkey-fixtures.ts'

const world = useWorld()
let user: User
let authenticator: Authenticator

beforeEach(async () => {
  setPanelUrl(world, origin)
  user = await makeUser(world, { username: 'mara', passwordHash: known.passwordHash })
  authenticator = await giveAuthenticator(world, user)
})

const stored = async () => (await world.database.db.select().from(passkeys)).at(0)
const login = '/auth/passkeys/login'

describe('asking for a passkey', () => {
  it('names no account, wants the user verified, and remembers the challenge', async () => {
    const browser = await openBrowser(world)
    const before = browser.cookies.get('__Host-roost_session')
    const { body } = await browser.request('POST', '/auth/passkeys/options')
    expect(body).toEqual({
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      rpId: 'panel.test',
      timeout: 300_000,
      userVerification: 'required',
    })
    const after = browser.cookies.get('__Host-roost_session')
    expect(after).not.toBe(before)
    const again = await browser.request('POST', '/auth/passkeys/options')
    expect(again.body.challenge).not.toBe(body.challenge)
    expect(browser.cookies.get('__Host-roost_session')).toBe(after)
  })
})

describe('signing in with a passkey', () => {
  it('opens a new session', async () => {
    const { browser, options } = await requestSignInOptions(world)
    const before = browser.cookies.get('__Host-roost_session')
    const { status, body } = await browser.request('POST', login, authenticator.use(options))
    expect(status).toBe(200)
    expect(body).toMatchObject({ data: { complete: true, intended: '/', user: { uuid: user.uuid } } })
    expect(browser.cookies.get('__Host-roost_session')).not.toBe(before)
    expect(await isSignedIn(browser)).toBe(true)
    expect(await stored()).toMatchObject({ counter: 1, lastUsedAt: world.clock.now })
    expect(await world.events()).toEqual(['user:passkey.create', 'auth:success'])
    // The guest's session went with its challenge.
    expect((await world.database.db.select().from(sessions)).map(({ userId }) => userId)).toEqual([
      user.id,
      user.id,
    ])
  })

  it('asks for the second factor of an account that has one', async () => {
    const factor = await giveSecondFactor(world, user)
    const { browser, answer } = await signInWith(world, authenticator)
    expect(answer.body.data).toEqual({
      complete: false,
      confirmation_token: expect.stringMatching(/^\w{64}$/),
    })
    expect(await isSignedIn(browser)).toBe(false)
    const { body } = await browser.request('POST', '/auth/login/checkpoint', {
      confirmation_token: answer.body.data.confirmation_token,
      authentication_code: await factor.code(),
    })
    expect(body.data.complete).toBe(true)
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('AU-9: works once for each challenge, of ten at once too', async () => {
    const { browser, options } = await requestSignInOptions(world)
    const used = authenticator.use(options)
    const answers = await Promise.all(Array.from({ length: 10 }, () => browser.request('POST', login, used)))
    // Requests after the accepted one have an expired cookie, or are no longer from a guest.
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => ![200, 302, 400].includes(status))).toEqual([])
    expect((await world.events()).filter((event) => event === 'auth:success')).toHaveLength(1)
  })

  it('takes passkeys that do not count, as long as they never did', async () => {
    for (let round = 0; round < 2; round += 1) {
      expect((await signInWith(world, authenticator, { counter: 0 })).answer.status).toBe(200)
    }
    expect((await signInWith(world, authenticator, { counter: 7 })).answer.status).toBe(200)
    expect((await signInWith(world, authenticator, { counter: 0 })).answer.status).toBe(400)
  })
})

describe('AU-9: signing in with a passkey is refused', () => {
  it.each([
    ['on a page of another origin', { origin: 'https://evil.test' }],
    ['on a page of another port', { origin: 'https://panel.test:8443' }],
    ['on a page of a host below ours', { origin: 'https://a.panel.test' }],
    ['for another domain', { rpId: 'evil.test' }],
    ['without knowing the user', { isUserVerified: false }],
    ['in a frame', { crossOrigin: true }],
    ['for another challenge', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
    ['when it was made, not used', { type: 'webauthn.create' }],
    ['for another account', { userHandle: Buffer.from(crypto.randomUUID()).toString('base64url') }],
  ])('%s', async (_what, twist) => {
    const { browser, answer } = await signInWith(world, authenticator, twist)
    expect([answer.status, answer.body.errors[0].code]).toEqual([400, 'DisplayException'])
    expect(await isSignedIn(browser)).toBe(false)
    expect(await stored()).toMatchObject({ counter: 0, lastUsedAt: null })
    expect(await world.events()).toEqual(['user:passkey.create', 'auth:fail'])
  })

  it('by another key of the same name, and by an unknown one, with the same error', async () => {
    const other = openAuthenticator(origin)
    const { browser, options } = await requestSignInOptions(world)
    const forged = {
      ...other.use(options, { userHandle: authenticator.state.userHandle }),
      id: authenticator.id,
    }
    const wrong = await browser.request('POST', login, forged)
    const unknown = (await signInWith(world, other, { userHandle: authenticator.state.userHandle })).answer
    expect([wrong.status, unknown.status]).toEqual([400, 400])
    expect(unknown.body).toEqual(wrong.body)
  })

  it('AU-9: with a counter that did not go on, and is written down', async () => {
    expect((await signInWith(world, authenticator, { counter: 9 })).answer.status).toBe(200)
    for (const counter of [9, 8, 0]) {
      expect((await signInWith(world, authenticator, { counter })).answer.status).toBe(400)
    }
    expect(await stored()).toMatchObject({ counter: 9 })
    const entries = await world.database.db.select().from(activity).where(eq(activity.event, 'auth:fail'))
    expect(entries.map(({ userId, properties }) => [userId, properties])).toEqual(
      Array.from({ length: 3 }, () => [user.id, { method: 'passkey', reason: 'counter' }]),
    )
    expect((await signInWith(world, authenticator, { counter: 10 })).answer.status).toBe(200)
  })

  it('AU-9: with an answer that was given before, in another session, and after five minutes', async () => {
    const first = await requestSignInOptions(world)
    const second = await requestSignInOptions(world)
    const foreign = await second.browser.request('POST', login, authenticator.use(first.options))
    expect(foreign.status).toBe(400)
    // The challenge of the second one is gone by that.
    const late = await second.browser.request('POST', login, authenticator.use(second.options))
    expect(late.status).toBe(400)
    world.clock.advance(301)
    const old = await first.browser.request('POST', login, authenticator.use(first.options))
    expect(old.status).toBe(400)
    const { browser, options } = await requestSignInOptions(world)
    const used = authenticator.use(options)
    expect((await browser.request('POST', login, used)).status).toBe(200)
    await browser.request('POST', '/auth/logout')
    await browser.request('POST', '/auth/passkeys/options')
    expect((await browser.request('POST', login, used)).status).toBe(400)
  })

  it('with a challenge that was given to make one, and the other way round', async () => {
    const { browser, options } = await requestSignInOptions(world)
    const open = (purpose: 'login' | 'register') => {
      const expiresAt = new Date(world.clock.now.getTime() + 60_000).toISOString()
      return { passkey: { challenge: options.challenge, purpose, expiresAt } }
    }
    const remember = (as: Browser, purpose: 'login' | 'register') => {
      const id = sessionId(as.cookies.get('__Host-roost_session') ?? '')
      return mergeSessionData(world.panel, { id }, open(purpose))
    }
    await remember(browser, 'register')
    expect((await browser.request('POST', login, authenticator.use(options))).status).toBe(400)
    await remember(browser, 'login')
    expect((await browser.request('POST', login, authenticator.use(options))).status).toBe(200)
    const other = openAuthenticator(origin).make({ ...options, user: { id: authenticator.state.userHandle } })
    const make = () => browser.request('POST', '/account/security/passkeys', { ...other, name: 'x' })
    await remember(browser, 'login')
    expect((await make()).status).toBe(400)
    await remember(browser, 'register')
    expect((await make()).status).toBe(204)
  })

  it('with fields beyond their bounds', async () => {
    const { browser, options } = await requestSignInOptions(world)
    const fits = authenticator.use(options)
    const bounds = { clientDataJSON: 8192, authenticatorData: 8192, signature: 2048, userHandle: 256 }
    const send = (body: unknown) => browser.request('POST', login, body)
    for (const [name, most] of Object.entries(bounds)) {
      for (const [value, rule] of [
        ['a'.repeat(most + 1), 'max'],
        ['a+b/', 'regex'],
        ['', 'required'],
        [null, 'required'],
      ]) {
        const { status, body } = await send({ ...fits, response: { ...fits.response, [name]: value } })
        expect([status, body.errors[0].meta], name).toMatchObject([
          422,
          { source_field: `response.${name}`, rule },
        ])
      }
    }
    expect((await send({ ...fits, id: 'a'.repeat(2049) })).body.errors[0].meta.rule).toBe('max')
    expect((await send({ id: fits.id })).body.errors[0].meta.source_field).toBe('response')
    // None of them has used up the challenge.
    expect((await send(fits)).status).toBe(200)
  })

  it('while passkeys are switched off, or the panel has no secure origin', async () => {
    const { browser, options } = await requestSignInOptions(world)
    const used = authenticator.use(options)
    const isRefused = async () => {
      for (const [path, body] of [
        ['/auth/passkeys/options', {}],
        [login, used],
      ] as const) {
        const { status, body: answer } = await browser.request('POST', path, body)
        expect([status, answer.errors[0].code]).toEqual([403, 'AccessDeniedHttpException'])
      }
    }
    await changeSettings(world.panel, { sign_in: { passkeys: false } })
    await isRefused()
    await changeSettings(world.panel, { sign_in: { passkeys: null } })
    for (const url of ['http://panel.test', 'https://192.0.2.7', 'https://[2001:db8::1]']) {
      setPanelUrl(world, url)
      const guest = await openBrowser(world)
      expect((await guest.request('POST', '/auth/passkeys/options')).status, url).toBe(403)
    }
    setPanelUrl(world, 'http://localhost:8080')
    const guest = await openBrowser(world)
    expect((await guest.request('POST', '/auth/passkeys/options')).body.rpId).toBe('localhost')
  })

  it('NW-3: after many requests from one network', async () => {
    const browser = await openBrowser(world, { ip: '2001:db8:1:2::3' })
    const neighbour = await openBrowser(world, { ip: '2001:db8:1:2::4' })
    const statuses = []
    for (let at = 0; at < 60; at += 1) {
      statuses.push((await browser.request('POST', '/auth/passkeys/options')).status)
    }
    expect(new Set(statuses)).toEqual(new Set([200]))
    const refused = await neighbour.request('POST', '/auth/passkeys/options')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const elsewhere = await openBrowser(world, { ip: '2001:db8:1:3::3' })
    expect((await elsewhere.request('POST', '/auth/passkeys/options')).status).toBe(200)
  })

  it('NW-3: after four times as many requests from the networks of one site', async () => {
    const hits = new Map<string, number>()
    const { cache } = world.services
    const hit: typeof cache.hit = async (key, seconds) => {
      const window = await cache.hit(key, seconds)
      hits.set(key, window.hits)
      return /^throttle:auth:2001:db8:1::\/48$/.test(key) ? { ...window, hits: window.hits + 239 } : window
    }
    Object.assign(world.services, { cache: { ...cache, hit } })
    const ask = async (ip: string) =>
      (await (await openBrowser(world, { ip })).request('POST', '/auth/passkeys/options')).status
    expect(await ask('2001:db8:1:2::3')).toBe(200)
    expect(await ask('2001:db8:1:5::3')).toBe(429)
    expect(await ask('2001:db8:2:5::3')).toBe(200)
    expect(await ask('192.0.2.9')).toBe(200)
    Object.assign(world.services, { cache })
    expect(Object.fromEntries(hits)).toEqual({
      'throttle:auth:2001:db8:1:2::/64': 1,
      'throttle:auth:2001:db8:1:5::/64': 1,
      'throttle:auth:2001:db8:1::/48': 2,
      'throttle:auth:2001:db8:2:5::/64': 1,
      'throttle:auth:2001:db8:2::/48': 1,
      'throttle:auth:192.0.2.9': 1,
    })
  })

  it('NW-5: however the path is written', async () => {
    const browser = await openBrowser(world, { ip: '198.51.100.9' })
    const paths = ['/auth/passkeys/options', '/auth/passkeys/options/', '/auth/x/../passkeys/options?a=b']
    for (let at = 0; at < 60; at += 1) {
      expect((await browser.request('POST', paths[at % paths.length] ?? '')).status).toBe(200)
    }
    for (const path of paths) expect((await browser.request('POST', path)).status, path).toBe(429)
    expect((await browser.request('POST', '/AUTH/passkeys/options')).status).toBe(404)
  })
})
