import { createHash } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { base32 } from 'oslo/encoding'
import { generateHOTP } from 'oslo/otp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { activity, identities, sessions, users } from '../../src/db/schema.ts'
import { encrypt } from '../../src/domain/secrets.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { makeClientToken, makeUser } from '../support/factories.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { useWorld } from '../support/world.ts'
import {
  approve,
  clientId,
  followCallback,
  configure,
  type Issuer,
  makeIdentity,
  getSignInMethods,
  unreachableUrl,
  setProviderEndpoints,
  readSessionData,
  startAuthorization,
  signedInAs,
  signInAt,
  startIssuer,
  enableProvider,
} from './oauth-fixtures.ts'

const world = useWorld()
let issuer: Issuer
let user: Awaited<ReturnType<typeof makeUser>>
let browser: Browser

beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(async () => issuer.server.stop())

beforeEach(async () => {
  issuer.reset()
  setProviderEndpoints(world)
  await enableProvider(world, 'oidc', { 'sign_in.oidc_issuer': issuer.url, 'sign_in.oidc_name': 'Guild' })
  user = await makeUser(world, { username: 'mara', email: 'mara@example.test' })
  await makeIdentity(world, user, { issuer: issuer.url })
  browser = await openBrowser(world)
})

describe('the sign-in methods', () => {
  it('are listed as the administrator switched them', async () => {
    expect(await getSignInMethods(browser)).toEqual({
      passwords_enabled: true,
      registration_enabled: false,
      passkeys_enabled: expect.any(Boolean),
      providers: [{ id: 'oidc', name: 'Guild' }],
      confirmation_token: null,
      error: null,
    })
    await enableProvider(world, 'github')
    await enableProvider(world, 'google')
    expect((await getSignInMethods(browser)).providers).toEqual([
      { id: 'google', name: 'Google' },
      { id: 'github', name: 'GitHub' },
      { id: 'oidc', name: 'Guild' },
    ])
  })

  it('are no others: unknown ones and those that are off are not found', async () => {
    for (const provider of ['discord', 'gitlab', 'toString', 'oidc%0d%0aset-cookie:x=1']) {
      for (const path of [provider, `${provider}/callback?code=a&state=b`]) {
        const answer = await browser.request('GET', `/auth/oauth/${path}`)
        expect([path, answer.status]).toEqual([path, 404])
        expect(answer.headers.getSetCookie()).toEqual([])
      }
    }
    await configure(world, { 'sign_in.oidc': false })
    expect((await browser.request('GET', '/auth/oauth/oidc')).status).toBe(404)
    expect(await world.database.db.select().from(sessions)).toEqual([])
  })

  it('are for guests with cookies', async () => {
    const token = await makeClientToken(world, user)
    for (const path of ['/auth/methods', '/auth/oauth/oidc', '/auth/oauth/oidc/callback']) {
      expect((await world.request('GET', path, { token })).status, path).toBe(401)
    }
    await signInAt(browser)
    for (const path of ['/auth/methods', '/auth/oauth/oidc']) {
      const { status, headers } = await browser.request('GET', path)
      expect([status, headers.get('location')], path).toEqual([302, '/'])
    }
  })
})

describe('starting a sign-in at a provider', () => {
  it('AU-10: sends a challenge whose verifier only the session has', async () => {
    const before = browser.cookies.get('roost_session')
    const answer = await browser.request(
      'GET',
      '/auth/oauth/oidc?intended=https://evil.test&redirect=//evil',
      undefined,
      {
        headers: { host: 'evil.test', 'x-forwarded-host': 'evil.test' },
      },
    )
    expect(answer.status).toBe(302)
    expect(answer.headers.get('cache-control')).toContain('no-store')
    const page = new URL(answer.headers.get('location') ?? '')
    expect(`${page.origin}${page.pathname}`).toBe(`${issuer.url}/authorize`)
    const { oauth } = await readSessionData(world, browser)
    expect(browser.cookies.get('roost_session')).not.toBe(before)
    expect(Object.fromEntries(page.searchParams)).toEqual({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: 'http://panel.test/auth/oauth/oidc/callback',
      state: oauth.state,
      scope: 'openid profile',
      nonce: oauth.nonce,
      code_challenge_method: 'S256',
      code_challenge: createHash('sha256').update(oauth.verifier).digest('base64url'),
    })
    expect(new Set([oauth.state, oauth.nonce, oauth.verifier]).size).toBe(3)
    for (const secret of [oauth.state, oauth.nonce, oauth.verifier]) expect(secret.length).toBeGreaterThan(42)
    expect(oauth).toMatchObject({ purpose: 'login', userId: null, provider: 'oidc' })
  })
})

describe('the callback of a provider', () => {
  it('signs in the user who linked the identity, in a new session', async () => {
    const path = await approve(await startAuthorization(browser))
    const before = browser.cookies.get('roost_session')
    expect(await followCallback(browser, path)).toBe('/')
    expect(browser.cookies.get('roost_session')).not.toBe(before)
    expect(await signedInAs(browser)).toBe('mara')
    expect((await world.database.db.select().from(sessions)).length).toBe(1)
    const [entry] = await world.database.db.select().from(activity)
    expect(entry).toMatchObject({
      event: 'auth:success',
      userId: user.id,
      actorId: user.id,
      properties: { method: 'oidc' },
    })
    const [identity] = await world.database.db.select().from(identities)
    expect(identity?.lastUsedAt).toEqual(world.clock.now)
  })

  it('AU-10: signs in no other user: neither by the address of an account nor by another issuer', async () => {
    await makeIdentity(world, await makeUser(world), {
      issuer: 'https://elsewhere.test',
      subject: 'unlinked',
    })
    await makeIdentity(world, await makeUser(world), {
      provider: 'google',
      issuer: issuer.url,
      subject: 'unlinked',
    })
    issuer.onIdToken(({ payload }) =>
      Object.assign(payload, {
        sub: 'unlinked',
        email: 'mara@example.test',
        email_verified: true,
        preferred_username: 'mara',
      }),
    )
    const accounts = await world.database.db.select().from(users)
    expect(await signInAt(browser)).toBe('/auth/login')
    expect(await signedInAs(browser)).toBeNull()
    expect((await getSignInMethods(browser)).error).toMatch(/is not linked to an account here/)
    expect((await getSignInMethods(browser)).error).toBeNull()
    expect(await world.database.db.select().from(users)).toEqual(accounts)
    expect((await world.database.db.select().from(identities)).length).toBe(3)
    expect(await world.events()).toEqual(['auth:fail'])
  })

  it('AU-10: redirects only to pages of the panel', async () => {
    const path = await approve(await startAuthorization(browser))
    const tail =
      '&intended=https://evil.test&redirect_to=//evil.test&RelayState=%0d%0aLocation:https://evil.test'
    const answer = await browser.request('GET', `${path}${tail}`, undefined, {
      headers: { host: 'evil.test' },
    })
    expect(answer.headers.get('location')).toBe('/')
    const odd = await browser.request(
      'GET',
      '/auth/oauth/oidc/callback?error=%0d%0aLocation:%20https://evil.test&state=%0d%0a',
    )
    expect(odd.headers.get('location')).toBe('/account/sign-in')
    expect(JSON.stringify([...odd.headers])).not.toContain('evil')
  })
})

describe('the page that was wanted', () => {
  const wanted = '/server/1a2b3c4d/files?directory=%2Fworld'
  const query = `?${new URLSearchParams({ intended: wanted })}`
  const setOutFor = async (intended: string) =>
    startAuthorization(browser, `oidc?${new URLSearchParams({ intended })}`)

  it('is the target of the redirect, and is not sent to the provider', async () => {
    const page = await setOutFor(wanted)
    expect(page.href).not.toContain('1a2b3c4d')
    expect(await followCallback(browser, await approve(page))).toBe(wanted)
    expect(await signedInAs(browser)).toBe('mara')
  })

  it('is still known when the provider says no, or nothing', async () => {
    const { searchParams } = await setOutFor(wanted)
    const state = searchParams.get('state') ?? ''
    const refused = `/auth/oauth/oidc/callback?error=access_denied&state=${state}`
    expect(await followCallback(browser, refused)).toBe(`/auth/login${query}`)
    await configure(world, { 'sign_in.oidc_issuer': unreachableUrl })
    const silent = await setOutFor(wanted)
    expect(silent.pathname + silent.search).toBe(`/auth/login${query}`)
  })

  it('is still known where the second factor is asked for', async () => {
    await giveSecondFactor(world, user)
    const path = await approve(await setOutFor(wanted))
    expect(await followCallback(browser, path)).toBe(`/auth/login?oauth=checkpoint&${query.slice(1)}`)
  })

  it.each([
    'https://evil.test',
    '//evil.test',
    '/\\evil.test',
    '/\t/evil.test',
    '/.//evil.test',
    '/x/..//evil.test',
    '/%2e//evil.test',
    'javascript:alert(1)',
    'evil.test',
    '@evil.test',
    '/auth/login',
    '/x/../auth/oauth/oidc',
    `/${'a'.repeat(2000)}`,
  ])('AU-10: is forgotten when it is no page of ours: %j', async (evil) => {
    const path = await approve(await setOutFor(evil))
    expect((await readSessionData(world, browser)).oauth.intended).toBeUndefined()
    expect(await followCallback(browser, path)).toBe('/')
  })
})

describe('a second factor', () => {
  const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
  const code = () => generateHOTP(base32.decode(secret), Math.floor(world.clock.now.getTime() / 30_000))
  const pass = async (confirmationToken: string, as = browser) =>
    as.request('POST', '/auth/login/checkpoint', {
      confirmation_token: confirmationToken,
      authentication_code: await code(),
    })

  beforeEach(async () => {
    const place = { table: 'users', column: 'totp_secret', row: user.uuid } as const
    const totpSecret = await encrypt(world.panel, secret, place)
    await world.database.db
      .update(users)
      .set({ totpSecret, totpEnabledAt: new Date() })
      .where(eq(users.id, user.id))
  })

  it('is asked for on the page of signing in, which finds the challenge in its session', async () => {
    expect(await signInAt(browser)).toBe('/auth/login?oauth=checkpoint')
    expect(await signedInAs(browser)).toBeNull()
    expect((await getSignInMethods(browser)).confirmation_token).toBeNull()
    expect(
      (await getSignInMethods(await openBrowser(world), '?oauth=checkpoint')).confirmation_token,
    ).toBeNull()
    const { confirmation_token: token } = await getSignInMethods(browser, '?oauth=checkpoint')
    expect(token).toMatch(/^[A-Za-z0-9]{64}$/)
    expect((await getSignInMethods(browser, '?oauth=checkpoint')).confirmation_token).toBe(token)
    expect(JSON.stringify(await readSessionData(world, browser))).not.toContain(token)
    expect((await pass(token, await openBrowser(world))).status).toBe(400)
    const { status, body } = await pass(token)
    expect([status, body.data.complete, body.data.intended]).toEqual([200, true, '/'])
    expect(await signedInAs(browser)).toBe('mara')
    expect(await world.events()).toEqual(['auth:checkpoint', 'auth:token', 'auth:success'])
  })

  it('is waited for five minutes', async () => {
    await signInAt(browser)
    const { confirmation_token: token } = await getSignInMethods(browser, '?oauth=checkpoint')
    world.clock.advance(301)
    expect((await getSignInMethods(browser, '?oauth=checkpoint')).confirmation_token).toBeNull()
    expect((await pass(token)).status).toBe(400)
  })
})

describe('an attempt', () => {
  const isRefused = async (as: Browser, path: string) => {
    const tokensBefore = issuer.calls.filter((call) => call === '/token').length
    expect(await followCallback(as, path)).toBe('/auth/login')
    expect((await getSignInMethods(as)).error).toMatch(/attempt has expired/)
    expect(await signedInAs(as)).toBeNull()
    // The provider is not called for a browser that did not begin.
    expect(issuer.calls.filter((call) => call === '/token')).toHaveLength(tokensBefore)
  }
  const withState = (path: string, state: string | null) => {
    const url = new URL(path, 'http://panel.test')
    if (state === null) url.searchParams.delete('state')
    else url.searchParams.set('state', state)
    return `${url.pathname}${url.search}`
  }

  it('AU-10: needs its state, and one that is not empty', async () => {
    const path = await approve(await startAuthorization(browser))
    for (const state of [null, '', 'x', 'undefined', 'null']) await isRefused(browser, withState(path, state))
    await isRefused(browser, `${path}&state=other`)
    expect(await followCallback(browser, path)).toBe('/')
  })

  it('does not begin with an answer: a browser without one has no state to match', async () => {
    await isRefused(browser, '/auth/oauth/oidc/callback?code=a&state=')
    await isRefused(await openBrowser(world), '/auth/oauth/oidc/callback?code=a')
    await isRefused(await openBrowser(world), '/auth/oauth/oidc/callback')
  })

  it('AU-10: belongs to the browser that began it', async () => {
    const path = await approve(await startAuthorization(browser))
    const other = await openBrowser(world)
    await isRefused(other, path)
    await startAuthorization(other)
    await isRefused(other, path)
  })

  it('belongs to its provider', async () => {
    await enableProvider(world, 'github')
    const path = await approve(await startAuthorization(browser))
    await isRefused(browser, path.replace('/oidc/', '/github/'))
  })

  it('lasts ten minutes', async () => {
    const path = await approve(await startAuthorization(browser))
    world.clock.advance(601)
    await isRefused(browser, path)
  })

  it('works once, also when many come at once', async () => {
    const path = await approve(await startAuthorization(browser))
    const copies = Array.from({ length: 10 }, () => ({ ...browser, cookies: new Map(browser.cookies) }))
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answers = await Promise.all(copies.map(() => world.request('GET', path, { headers: { cookie } })))
    const places = answers.map(({ headers }) => headers.get('location'))
    expect(places.filter((place) => place === '/')).toHaveLength(1)
    expect(places.filter((place) => place === '/auth/login')).toHaveLength(9)
    expect(issuer.calls.filter((call) => call === '/token')).toHaveLength(1)
    await isRefused(await openBrowser(world), path)
    const signedIn = await world.database.db
      .select()
      .from(sessions)
      .where(sql`${sessions.userId} is not null`)
    expect(signedIn).toHaveLength(1)
  })

  it('ends when the provider refuses, and does not repeat its error text', async () => {
    const page = await startAuthorization(browser)
    const state = page.searchParams.get('state') ?? ''
    const refused = `/auth/oauth/oidc/callback?error=access_denied&error_description=Call+0800-SCAM&state=${state}`
    expect(await followCallback(browser, refused)).toBe('/auth/login')
    const { error } = await getSignInMethods(browser)
    expect(error).toBe('Guild did not confirm your identity: access was denied.')
    await isRefused(browser, `/auth/oauth/oidc/callback?code=a&state=${state}`)
  })

  it('is one of 60 from one network in a minute', async () => {
    const answers = []
    for (let count = 0; count < 62; count += 1) {
      answers.push(await world.request('GET', '/auth/oauth/oidc', { ip: '198.51.100.9' }))
    }
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(60)
    expect(answers.at(-1)?.status).toBe(429)
    expect((await browser.request('GET', '/auth/oauth/oidc')).status).toBe(302)
  })
})
