import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { httpOauth } from '../../src/adapters/oauth.ts'
import { testEgress } from '../support/egress.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { makeUser } from '../support/factories.ts'
import { type DaemonAnswer, startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import {
  approve,
  followCallback,
  configure,
  type Issuer,
  makeIdentity,
  getSignInMethods,
  unreachableUrl,
  setProviderEndpoints,
  startAuthorization,
  signedInAs,
  signInAt,
  startIssuer,
  enableProvider,
} from './oauth-fixtures.ts'

const world = useWorld()
let issuer: Issuer
let stub: StubDaemon
let browser: Browser
let user: Awaited<ReturnType<typeof makeUser>>

beforeAll(async () => {
  issuer = await startIssuer()
  stub = await startStubDaemon()
})
afterAll(async () => {
  await stub.close()
  await issuer.server.stop()
})

beforeEach(async () => {
  issuer.reset()
  stub.calls.length = 0
  stub.respond({ json: {} })
  setProviderEndpoints(world)
  await enableProvider(world, 'oidc', { 'sign_in.oidc_issuer': issuer.url })
  user = await makeUser(world, { username: 'mara' })
  await makeIdentity(world, user, { issuer: issuer.url })
  browser = await openBrowser(world)
})

const at = (path: string) => `http://127.0.0.1:${stub.port}${path}`
const silence = 'OpenID Connect did not answer as expected. Try again in a moment.'

/** Expects that the response of the provider signs in no user, and that the page shows an error. */
const expectSilence = async (as = browser) => {
  expect((await getSignInMethods(as)).error).toBe(silence)
  expect(await signedInAs(as)).toBeNull()
  expect(await world.events()).toEqual([])
}

describe('an issuer', () => {
  const documents = () => issuer.calls.filter((call) => call.includes('well-known')).length

  it('is asked about itself once an hour', async () => {
    await signInAt(browser)
    await startAuthorization(await openBrowser(world))
    world.clock.advance(3590)
    await startAuthorization(await openBrowser(world))
    expect(documents()).toBe(1)
    world.clock.advance(20)
    await startAuthorization(await openBrowser(world))
    expect(documents()).toBe(2)
  })

  it('may be written with a slash at its end', async () => {
    await configure(world, { 'sign_in.oidc_issuer': `${issuer.url}/` })
    expect(await signInAt(browser)).toBe('/')
  })

  it.each<[string, (document: Record<string, unknown>) => unknown]>([
    ['calls itself by another name', (document) => (document['issuer'] = 'https://evil.test')],
    ['has no name', (document) => delete document['issuer']],
    ['has no page', (document) => delete document['authorization_endpoint']],
    ['has a script for a page', (document) => (document['authorization_endpoint'] = 'javascript:alert(1)')],
    ['has a file for keys', (document) => (document['jwks_uri'] = 'file:///etc/passwd')],
    ['has a relative address', (document) => (document['token_endpoint'] = '/token')],
  ])('that %s is not followed', async (_what, change) => {
    issuer.onDocument(({ body }) => void change(body))
    expect((await startAuthorization(browser)).pathname).toBe('/auth/login')
    await expectSilence()
    issuer.onDocument(null)
    expect(await signInAt(browser)).toBe('/')
  })

  it.each<[string, (document: { body: Record<string, any>; statusCode: number }) => unknown]>([
    ['fails', (answer) => (answer.statusCode = 500)],
    ['says nothing', (answer) => (answer.body = null as never)],
    ['says too much', (answer) => (answer.body['x'] = 'x'.repeat(300_000))],
  ])('that %s is not followed', async (_what, change) => {
    issuer.onDocument((answer) => void change(answer))
    expect((await startAuthorization(browser)).pathname).toBe('/auth/login')
    await expectSilence()
  })

  it('that is unreachable does not sign in, before and after', async () => {
    const path = await approve(await startAuthorization(browser))
    await configure(world, { 'sign_in.oidc_issuer': unreachableUrl })
    expect(await followCallback(browser, path)).toBe('/auth/login')
    await expectSilence()
    expect((await startAuthorization(browser)).pathname).toBe('/auth/login')
    await expectSilence()
  })

  it('does not send the code and the secret elsewhere', async () => {
    const path = await approve(await startAuthorization(browser))
    setProviderEndpoints(world)
    issuer.onDocument(({ body }) => (body['token_endpoint'] = at('/moved')))
    for (const status of [301, 302, 303, 307, 308]) {
      stub.respond({ status, headers: { location: `${issuer.url}/token` } })
      const again = status === 301 ? path : await approve(await startAuthorization(browser))
      expect(await followCallback(browser, again)).toBe('/auth/login')
      await expectSilence()
    }
    expect(stub.calls.map((call) => call.path)).toEqual(Array(5).fill('/moved'))
    expect(issuer.calls).not.toContain('/token')
  })

  it.each<[string, DaemonAnswer]>([
    ['hangs', { hang: true }],
    ['hangs up', { text: '{', cut: true }],
    ['fails', { status: 500, json: { id_token: 'x' } }],
    ['refuses', { status: 400, json: { error: 'invalid_grant' } }],
    ['says no with 200', { json: { error: 'bad_verification_code' } }],
    ['says a list', { json: [] }],
    ['says null', { json: null }],
    ['says no JSON', { text: '<html>' }],
    ['says nothing', { text: '' }],
    ['never ends', { text: `"${'x'.repeat(400_000)}"` }],
  ])('whose token endpoint %s does not sign in', async (_what, answer) => {
    issuer.onDocument(({ body }) => (body['token_endpoint'] = at('/token')))
    stub.respond(answer)
    if ('hang' in answer) setProviderEndpoints(world, {}, 1000)
    expect(await signInAt(browser)).toBe('/auth/login')
    await expectSilence()
    expect(stub.calls).toHaveLength(1)
  })

  it.each([
    [['client_secret_basic'], 'Basic cm9vc3QtcGFuZWw6Y2xpZW50JTIwc2VjcmV0', null],
    [undefined, 'Basic cm9vc3QtcGFuZWw6Y2xpZW50JTIwc2VjcmV0', null],
    [['client_secret_basic', 'client_secret_post'], undefined, 'client secret'],
  ])('that takes secrets by %j gets them so', async (accepted, header, inForm) => {
    issuer.onDocument(({ body }) =>
      Object.assign(body, {
        token_endpoint: at('/token'),
        token_endpoint_auth_methods_supported: accepted,
      }),
    )
    const page = await startAuthorization(browser)
    await followCallback(browser, await approve(page))
    const [call] = stub.calls
    const form = new URLSearchParams(call?.body)
    expect(call?.headers.authorization).toBe(header)
    expect(form.get('client_secret')).toBe(inForm)
    expect(Object.fromEntries(form)).toMatchObject({
      grant_type: 'authorization_code',
      redirect_uri: 'http://panel.test/auth/oauth/oidc/callback',
      code_verifier: expect.stringMatching(/^\w{64}$/),
    })
  })
})

describe('Google', () => {
  it('is an issuer as any other, at an address of its own', async () => {
    await enableProvider(world, 'google')
    setProviderEndpoints(world, { google: issuer.url })
    expect(await signInAt(browser, 'google')).toBe('/auth/login')
    expect((await getSignInMethods(browser)).error).toMatch(/This Google account is not linked/)
    await makeIdentity(world, user, { provider: 'google', issuer: issuer.url })
    expect(await signInAt(browser, 'google')).toBe('/')
    expect(await signedInAs(browser)).toBe('mara')
  })
})

describe.each([
  {
    provider: 'github',
    name: 'GitHub',
    scope: null,
    issuer: 'https://github.com',
    subject: '583231',
    profile: { id: 583231, login: 'octocat', email: 'mara@example.test' },
    odd: [{ login: 'octocat' }, { id: '583231' }, { id: 0 }, { id: 1.5 }, { id: null }, { id: 583232 }],
  },
  {
    provider: 'discord',
    name: 'Discord',
    scope: 'identify',
    issuer: 'https://discord.com',
    subject: '80351110224678912',
    profile: { id: '80351110224678912', username: 'nelly', email: 'mara@example.test' },
    odd: [
      { username: 'nelly' },
      { id: 8035111 },
      { id: '' },
      { id: ['80351110224678912'] },
      { id: 'x\u0000' },
    ],
  },
])('$name', ({ provider, scope, issuer: identityIssuer, subject, profile, odd }) => {
  const tokens = { json: { access_token: 'the access token', token_type: 'bearer' } }
  let answers: Record<string, DaemonAnswer>
  let addresses: { authorization: string; token: string; user: string }

  beforeEach(async () => {
    answers = { '/token': tokens, '/user': { json: profile } }
    stub.respond(({ path }) => answers[path] ?? { status: 404 })
    await enableProvider(world, provider)
    addresses = { authorization: at('/authorize?x=1'), token: at('/token'), user: at('/user') }
    setProviderEndpoints(world, { [provider]: addresses })
  })

  const answerOf = (page: URL) =>
    `/auth/oauth/${provider}/callback?code=abc&state=${page.searchParams.get('state')}`

  it('is asked who it is with what the code is worth', async () => {
    await makeIdentity(world, user, { provider, issuer: identityIssuer, subject })
    const page = await startAuthorization(browser, provider)
    expect(Object.fromEntries(page.searchParams)).toMatchObject({
      x: '1',
      client_id: 'roost-panel',
      redirect_uri: `http://panel.test/auth/oauth/${provider}/callback`,
      code_challenge_method: 'S256',
    })
    expect([page.searchParams.get('scope'), page.searchParams.get('nonce')]).toEqual([scope, null])
    expect(await followCallback(browser, answerOf(page))).toBe('/')
    expect(await signedInAs(browser)).toBe('mara')
    const [exchange, user_] = stub.calls
    expect(Object.fromEntries(new URLSearchParams(exchange?.body))).toEqual({
      grant_type: 'authorization_code',
      code: 'abc',
      redirect_uri: `http://panel.test/auth/oauth/${provider}/callback`,
      code_verifier: expect.stringMatching(/^\w{64}$/),
      client_id: 'roost-panel',
      client_secret: 'client secret',
    })
    expect(user_?.headers).toMatchObject({
      authorization: 'Bearer the access token',
      accept: 'application/json',
      'user-agent': 'Roost',
    })
    expect(stub.calls.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /token', 'GET /user'])
  })

  it('does not sign in by an address, or by the id of another provider', async () => {
    await makeIdentity(world, user, { provider: 'oidc', issuer: identityIssuer, subject })
    await makeIdentity(world, user, { provider: 'google', issuer: identityIssuer, subject })
    const found = await makeUser(world, { email: 'mara@example.test' })
    expect(await followCallback(browser, answerOf(await startAuthorization(browser, provider)))).toBe(
      '/auth/login',
    )
    expect((await getSignInMethods(browser)).error).toMatch(/is not linked to an account here/)
    expect([await signedInAs(browser), found.username === 'mara']).toEqual([null, false])
  })

  it('without a user id does not sign in', async () => {
    await makeIdentity(world, user, { provider, issuer: identityIssuer, subject })
    const wrong: DaemonAnswer[] = [
      ...odd.map((json) => ({ json })),
      { json: null },
      { json: [] },
      { status: 401, json: profile },
      { status: 302, headers: { location: at('/user') } },
      { text: '<html>' },
      { hang: true },
    ]
    for (const answer of wrong) {
      answers['/user'] = answer
      setProviderEndpoints(world, { [provider]: addresses }, 'hang' in answer ? 1000 : undefined)
      expect(await followCallback(browser, answerOf(await startAuthorization(browser, provider)))).toBe(
        '/auth/login',
      )
      expect(await signedInAs(browser)).toBeNull()
      world.clock.advance(60)
    }
    answers['/user'] = { json: profile }
    for (const json of [{}, { access_token: 1 }, { error: 'bad_verification_code' }, null]) {
      answers['/token'] = { json }
      expect(await followCallback(browser, answerOf(await startAuthorization(browser, provider)))).toBe(
        '/auth/login',
      )
      expect((await getSignInMethods(browser)).error).toMatch(/did not answer as expected/)
    }
  })
})

describe('the addresses of providers', () => {
  it('are those that they publish', async () => {
    const secrets = { state: 's', verifier: 'v'.repeat(64), nonce: 'n' }
    const client = { issuer: null, clientId: 'id', clientSecret: 'x', redirectUri: 'https://panel.test/x' }
    const gateway = httpOauth(testEgress.fetch)
    const pageOf = async (provider: 'github' | 'discord') =>
      (await gateway.authorizationUrl({ ...client, provider }, secrets)).split('?')[0]
    expect(await pageOf('github')).toBe('https://github.com/login/oauth/authorize')
    expect(await pageOf('discord')).toBe('https://discord.com/oauth2/authorize')
  })
})
