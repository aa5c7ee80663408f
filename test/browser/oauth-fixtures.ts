import type { IncomingMessage } from 'node:http'
import { eq } from 'drizzle-orm'
import { OAuth2Server } from 'oauth2-mock-server'
import { httpOauth, type ProviderEndpoints } from '../../src/adapters/oauth.ts'
import { identities, sessions, settings } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { encrypt } from '../../src/domain/secrets.ts'
import { definitionOf, type SettingKey } from '../../src/domain/settings/definitions.ts'
import { createSession, csrfToken, sessionId } from '../../src/domain/auth/sessions.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { testEgress } from '../support/egress.ts'
import type { World } from '../support/world.ts'

type Mutable = { body: Record<string, any>; statusCode: number }
type Token = { header: Record<string, any>; payload: Record<string, any> }

/** A real OpenID Connect provider whose responses a test may change. */
export type Issuer = {
  url: string
  server: OAuth2Server
  /** Paths of the requests it received. */
  calls: string[]
  /** Changes the ID token before it is signed. */
  onIdToken: (change: ((token: Token) => void) | null) => void
  /** Changes the answer of the token endpoint. */
  onTokens: (change: ((answer: Mutable) => void) | null) => void
  /** Changes what it says of itself. */
  onDocument: (change: ((answer: Mutable) => void) | null) => void
  reset: () => void
}

/** Starts an issuer on a free port; its user is `johndoe` unless a test changes that. */
export async function startIssuer(): Promise<Issuer> {
  const server = new OAuth2Server()
  await server.issuer.keys.generate('RS256')
  await server.start(0, '127.0.0.1')
  const changes: Record<'idToken' | 'tokens' | 'document', ((value: any) => void) | null> = {
    idToken: null,
    tokens: null,
    document: null,
  }
  const calls: string[] = []
  // The access token is signed first, and is of no interest.
  server.service.on(
    'beforeTokenSigning',
    (token: Token) => 'aud' in token.payload && changes.idToken?.(token),
  )
  server.service.on('beforeResponse', (answer: Mutable, { url }: IncomingMessage) => {
    calls.push(String(url))
    changes.tokens?.(answer)
  })
  server.service.on('beforeWellKnownOpenIdConfiguration', (answer: Mutable, { url }: IncomingMessage) => {
    calls.push(String(url))
    changes.document?.(answer)
  })
  const issuer: Issuer = {
    url: String(server.issuer.url),
    server,
    calls,
    onIdToken: (change) => void (changes.idToken = change),
    onTokens: (change) => void (changes.tokens = change),
    onDocument: (change) => void (changes.document = change),
    reset: () => {
      calls.length = 0
      Object.assign(changes, { idToken: null, tokens: null, document: null })
    },
  }
  return issuer
}

/** A URL at which nothing listens. */
export const unreachableUrl = 'http://127.0.0.1:1'

export const clientId = 'roost-panel'

/** Enables a provider, with client id and secret. */
export async function enableProvider(world: World, provider: string, more: Record<string, unknown> = {}) {
  await configure(world, {
    [`sign_in.${provider}`]: true,
    [`sign_in.${provider}_client_id`]: clientId,
    [`sign_in.${provider}_client_secret`]: 'client secret',
    ...more,
  })
}

/** Writes settings past their checks: the providers of tests have no https. */
export async function configure(world: World, values: Record<string, unknown>): Promise<void> {
  for (const [key, plain] of Object.entries(values)) {
    const isSecret = definitionOf(key as SettingKey).isSecret
    const place = { table: 'settings', column: 'value', row: key } as const
    const value = isSecret ? await encrypt(world.panel, String(plain), place) : plain
    await world.database.db
      .insert(settings)
      .values({ key, value })
      .onConflictDoUpdate({ target: settings.key, set: { value } })
  }
}

/** Sets the endpoints of the addresses. */
export function setProviderEndpoints(
  world: World,
  addresses: Partial<ProviderEndpoints> = {},
  timeoutMs = 10_000,
): void {
  const unreachable = {
    authorization: `${unreachableUrl}/authorize`,
    token: `${unreachableUrl}/token`,
    user: `${unreachableUrl}/user`,
  }
  const oauth = httpOauth(testEgress.fetch, {
    endpoints: { google: unreachableUrl, github: unreachable, discord: unreachable, ...addresses },
    timeoutMs,
    now: () => world.clock.now.getTime(),
  })
  Object.assign(world.services, { oauth })
}

/** Opens a browser in which the account is signed in, without a request. */
export async function openBrowserOf(world: World, user: User): Promise<Browser> {
  const browser = await openBrowser(world)
  const options = { userAgent: 'Test browser', remember: false, previous: null }
  const { token } = await createSession(world.panel, user, options)
  browser.cookies.set('roost_session', token).set('XSRF-TOKEN', csrfToken(token))
  return browser
}

/** Starts a sign-in at a provider; returns the authorization URL. */
export async function startAuthorization(browser: Browser, provider = 'oidc'): Promise<URL> {
  const { headers } = await browser.request('GET', `/auth/oauth/${provider}`)
  return new URL(headers.get('location') ?? '', 'http://panel.test')
}

/** Approves at the provider; returns the path of the callback. */
export async function approve(page: URL | string): Promise<string> {
  const answer = await fetch(page, { redirect: 'manual' })
  const back = new URL(answer.headers.get('location') ?? '')
  return `${back.pathname}${back.search}`
}

/** Requests the callback; returns the target of its redirect, or the status and text of an error. */
export async function followCallback(browser: Browser, path: string): Promise<string | null> {
  const answer = await browser.request('GET', path, undefined, { headers: { origin: '' } })
  return answer.status === 302 ? answer.headers.get('location') : `${answer.status} ${answer.text}`
}

/** Runs a whole sign-in at the provider; returns the target of the last redirect. */
export const signInAt = async (browser: Browser, provider = 'oidc') =>
  followCallback(browser, await approve(await startAuthorization(browser, provider)))

/** Reads the sign-in methods that the sign-in page shows. */
export const getSignInMethods = async (browser: Browser, query = '') =>
  (await browser.request('GET', `/auth/methods${query}`)).body

/** Returns the username of the signed-in account; null without one. */
export async function signedInAs(browser: Browser): Promise<string | null> {
  const { status, body } = await browser.request('GET', '/api/client/account')
  return status === 200 ? body.attributes.username : null
}

/** Reads the data of the browser's session. */
export async function readSessionData(world: World, browser: Browser): Promise<Record<string, any>> {
  const id = sessionId(browser.cookies.get('roost_session') ?? '')
  const [row] = await world.database.db.select().from(sessions).where(eq(sessions.id, id))
  return row?.data ?? {}
}

/** Inserts an identity of the account without the provider. */
export const makeIdentity = (world: World, user: { id: number }, values: Record<string, unknown>) =>
  world.database.db.insert(identities).values({
    userId: user.id,
    provider: 'oidc',
    issuer: '',
    subject: 'johndoe',
    displayName: 'John',
    ...values,
  })
