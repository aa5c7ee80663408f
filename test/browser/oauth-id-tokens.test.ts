import { createHmac } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sessions } from '../../src/db/schema.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import {
  approve,
  followCallback,
  type Issuer,
  makeIdentity,
  getSignInMethods,
  setProviderEndpoints,
  startAuthorization,
  signedInAs,
  signInAt,
  startIssuer,
  enableProvider,
} from './oauth-fixtures.ts'

const world = useWorld()
let issuer: Issuer
let browser: Browser

beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(async () => issuer.server.stop())

beforeEach(async () => {
  issuer.reset()
  setProviderEndpoints(world)
  await enableProvider(world, 'oidc', { 'sign_in.oidc_issuer': issuer.url })
  await makeIdentity(world, await makeUser(world), { issuer: issuer.url })
  browser = await openBrowser(world)
})

/** Expects that the response of the provider signs in no user, and that the page shows an error. */
const expectSilence = async () => {
  expect((await getSignInMethods(browser)).error).toMatch(/did not answer as expected/)
  expect(await signedInAs(browser)).toBeNull()
  expect(await world.events()).toEqual([])
}

describe('an ID token', () => {
  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

  it.each<[string, (payload: Record<string, unknown>) => void]>([
    ['of another attempt', (payload) => (payload['nonce'] = 'x'.repeat(48))],
    ['of no attempt', (payload) => delete payload['nonce']],
    ['for another client', (payload) => (payload['aud'] = 'another-client')],
    ['without an audience', (payload) => delete payload['aud']],
    ['for several clients', (payload) => (payload['aud'] = [payload['aud'], 'another-client'])],
    ['that another client asked for', (payload) => (payload['azp'] = 'another-client')],
    ['of another issuer', (payload) => (payload['iss'] = 'https://evil.test')],
    ['of no issuer', (payload) => delete payload['iss']],
    ['that has ended', (payload) => (payload['exp'] = inSeconds(-120))],
    ['without an end', (payload) => delete payload['exp']],
    ['that begins later', (payload) => (payload['nbf'] = inSeconds(600))],
    ['without a subject', (payload) => delete payload['sub']],
    ['about an empty name', (payload) => (payload['sub'] = '')],
    ['about a number', (payload) => (payload['sub'] = 1)],
    ['about an endless name', (payload) => (payload['sub'] = 'x'.repeat(256))],
  ])('AU-10: %s does not sign in', async (_what, change) => {
    issuer.onIdToken(({ payload }) => change(payload))
    expect(await signInAt(browser)).toBe('/auth/login')
    await expectSilence()
  })

  it('for several clients is good when this one asked for it', async () => {
    issuer.onIdToken(({ payload }) =>
      Object.assign(payload, { aud: [payload['aud'], 'another-client'], azp: payload['aud'] }),
    )
    expect(await signInAt(browser)).toBe('/')
  })

  const claims = (nonce: string) => ({
    iss: issuer.url,
    aud: 'roost-panel',
    sub: 'johndoe',
    nonce,
    iat: inSeconds(0),
    exp: inSeconds(600),
  })
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const publicKey = () => issuer.server.issuer.keys.toJSON()[0] as { kid: string; n: string }

  it.each<[string, (nonce: string) => Promise<string>]>([
    [
      'by another key of the same name',
      async (nonce) => {
        const { privateKey } = await generateKeyPair('RS256')
        const header = { alg: 'RS256', kid: publicKey().kid }
        return new SignJWT(claims(nonce)).setProtectedHeader(header).sign(privateKey)
      },
    ],
    [
      'by a key that comes along',
      async (nonce) => {
        const pair = await generateKeyPair('RS256', { extractable: true })
        const jwk = await exportJWK(pair.publicKey)
        const header = { alg: 'RS256', kid: publicKey().kid, jwk }
        return new SignJWT(claims(nonce)).setProtectedHeader(header).sign(pair.privateKey)
      },
    ],
    ['by no key', async (nonce) => `${encode({ alg: 'none' })}.${encode(claims(nonce))}.`],
    [
      'with the public key as a secret',
      async (nonce) => {
        const content = `${encode({ alg: 'HS256', kid: publicKey().kid })}.${encode(claims(nonce))}`
        return `${content}.${createHmac('sha256', publicKey().n).update(content).digest('base64url')}`
      },
    ],
    [
      'with the secret of the client',
      async (nonce) => {
        const key = new TextEncoder().encode('client secret')
        return new SignJWT(claims(nonce)).setProtectedHeader({ alg: 'HS256' }).sign(key)
      },
    ],
    ['as no token at all', async () => 'nonsense'],
  ])('that is signed %s does not sign in', async (_how, forge) => {
    const page = await startAuthorization(browser)
    const forged = await forge(page.searchParams.get('nonce') ?? '')
    issuer.onTokens(({ body }) => (body['id_token'] = forged))
    expect(await followCallback(browser, await approve(page))).toBe('/auth/login')
    await expectSilence()
  })

  it('is needed: an access token says nothing', async () => {
    issuer.onTokens(({ body }) => delete body['id_token'])
    expect(await signInAt(browser)).toBe('/auth/login')
    await expectSilence()
  })

  it('may be signed by a key that is new', async () => {
    expect(await signInAt(browser)).toBe('/')
    await issuer.server.issuer.keys.generate('ES256')
    const other = await openBrowser(world)
    expect(await signInAt(other)).toBe('/')
    expect(await signInAt(await openBrowser(world))).toBe('/')
  })

  it('AU-10: is given for the right verifier alone', async () => {
    const path = await approve(await startAuthorization(browser))
    await world.database.db.update(sessions).set({
      data: sql`jsonb_set(${sessions.data}, '{oauth,verifier}', ${JSON.stringify('w'.repeat(64))}::jsonb)`,
    })
    expect(await followCallback(browser, path)).toBe('/auth/login')
    await expectSilence()
  })
})
