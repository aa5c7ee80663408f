import type { IncomingMessage } from 'node:http'
import { eq } from 'drizzle-orm'
import { OAuth2Server } from 'oauth2-mock-server'
import { httpOauth, type ProviderAddresses } from '../../src/adapters/oauth.ts'
import { identities, sessions, settings } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { seal } from '../../src/domain/secrets.ts'
import { definitionOf, type SettingKey } from '../../src/domain/setting-definitions.ts'
import { csrfToken, openSession, sessionId } from '../../src/domain/sessions.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import type { World } from '../support/world.ts'

type Mutable = { body: Record<string, any>; statusCode: number }
type Token = { header: Record<string, any>; payload: Record<string, any> }

/** A real provider of OpenID Connect, whose answers a test may change. */
export type Issuer = {
  url: string
  server: OAuth2Server
  /** Paths of the calls it was asked for. */
  calls: string[]
  /** Changes the ID token before it is signed. */
  onIdToken: (change: ((token: Token) => void) | null) => void
  /** Changes the answer of the token endpoint. */
  onTokens: (change: ((answer: Mutable) => void) | null) => void
  /** Changes what it says of itself. */
  onDocument: (change: ((answer: Mutable) => void) | null) => void
  reset: () => void
}

/** An issuer on a free port; what signs in is called `johndoe` unless a test says otherwise. */
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

/** An address at which nothing listens. */
export const nowhere = 'http://127.0.0.1:1'

export const clientId = 'roost-panel'

/** Switches a provider on, with client id and secret. */
export async function switchOn(world: World, provider: string, more: Record<string, unknown> = {}) {
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
    const value = isSecret ? await seal(world.panel, String(plain), place) : plain
    await world.database.db
      .insert(settings)
      .values({ key, value })
      .onConflictDoUpdate({ target: settings.key, set: { value } })
  }
}

/** The panel finds the providers at these addresses, and waits for them no longer than the tests do. */
export function placeProviders(world: World, addresses: Partial<ProviderAddresses> = {}): void {
  const dead = { authorization: `${nowhere}/authorize`, token: `${nowhere}/token`, user: `${nowhere}/user` }
  const oauth = httpOauth({
    addresses: { google: nowhere, github: dead, discord: dead, ...addresses },
    timeout: 1000,
    now: () => world.clock.now.getTime(),
  })
  Object.assign(world.parts, { oauth })
}

/** A browser in which the account is signed in, however that came about. */
export async function openBrowserOf(world: World, user: User): Promise<Browser> {
  const browser = await openBrowser(world)
  const options = { userAgent: 'Test browser', remember: false, previous: null }
  const { token } = await openSession(world.panel, user, options)
  browser.cookies.set('roost_session', token).set('XSRF-TOKEN', csrfToken(token))
  return browser
}

/** Sets out for a provider; gives the address of the page on which one agrees. */
export async function setOut(browser: Browser, provider = 'oidc'): Promise<URL> {
  const { headers } = await browser.request('GET', `/auth/oauth/${provider}`)
  return new URL(headers.get('location') ?? '', 'http://panel.test')
}

/** Agrees at the provider; gives the path of the panel to which it sends the browser back. */
export async function agree(page: URL | string): Promise<string> {
  const answer = await fetch(page, { redirect: 'manual' })
  const back = new URL(answer.headers.get('location') ?? '')
  return `${back.pathname}${back.search}`
}

/** Where the browser is sent in the end. */
export async function comeBack(browser: Browser, path: string): Promise<string | null> {
  const answer = await browser.request('GET', path, undefined, { headers: { origin: '' } })
  return answer.status === 302 ? answer.headers.get('location') : `${answer.status} ${answer.text}`
}

/** Signs in at the provider, as far as it goes. */
export const signInAt = async (browser: Browser, provider = 'oidc') =>
  comeBack(browser, await agree(await setOut(browser, provider)))

/** What the page of signing in is told. */
export const methods = async (browser: Browser, query = '') =>
  (await browser.request('GET', `/auth/methods${query}`)).body

/** Whose account the browser is signed in to; null when it is to none. */
export async function signedInAs(browser: Browser): Promise<string | null> {
  const { status, body } = await browser.request('GET', '/api/client/account')
  return status === 200 ? body.attributes.username : null
}

/** What the browser's session remembers. */
export async function remembered(world: World, browser: Browser): Promise<Record<string, any>> {
  const id = sessionId(browser.cookies.get('roost_session') ?? '')
  const [row] = await world.database.db.select().from(sessions).where(eq(sessions.id, id))
  return row?.data ?? {}
}

/** Links an identity to the account without asking anybody. */
export const makeIdentity = (world: World, user: { id: number }, values: Record<string, unknown>) =>
  world.database.db.insert(identities).values({
    userId: user.id,
    provider: 'oidc',
    issuer: '',
    subject: 'johndoe',
    displayName: 'John',
    ...values,
  })
