import { CodeChallengeMethod, OAuth2Client, OAuth2Tokens } from 'arctic'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { callJson, membersOf } from './json-call.ts'

/** What a provider knows the panel by, and where it sends people back to. */
export type OauthClient = {
  provider: 'google' | 'github' | 'discord' | 'oidc'
  /** Of the generic provider; the others have their own. */
  issuer: string | null
  clientId: string
  clientSecret: string
  redirectUri: string
}

/** The secrets of one attempt: they tie the answer of the provider to whoever began. */
export type OauthSecrets = { state: string; verifier: string; nonce: string }

/** Who somebody is at a provider. `issuer` and `subject` never change; the name is what people see. */
export type ProvidedIdentity = { issuer: string; subject: string; displayName: string }

/** Asks providers who somebody is. */
export type OauthGateway = {
  /** The page of the provider on which somebody agrees. Throws when the provider cannot be found out about. */
  authorizationUrl: (client: OauthClient, secrets: OauthSecrets) => Promise<string>
  /** Who agreed and came back with this code. Throws unless the provider says so in a way that can be verified. */
  identify: (client: OauthClient, code: string, secrets: OauthSecrets) => Promise<ProvidedIdentity>
}

/** Where the providers are that have an address of their own. */
export type ProviderAddresses = {
  google: string
  github: { authorization: string; token: string; user: string }
  discord: { authorization: string; token: string; user: string }
}

const publicAddresses: ProviderAddresses = {
  google: 'https://accounts.google.com',
  github: {
    authorization: 'https://github.com/login/oauth/authorize',
    token: 'https://github.com/login/oauth/access_token',
    user: 'https://api.github.com/user',
  },
  discord: {
    authorization: 'https://discord.com/oauth2/authorize',
    token: 'https://discord.com/api/oauth2/token',
    user: 'https://discord.com/api/users/@me',
  },
}

/** Signatures that only the holder of a private key can make. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
/** Seconds by which clocks may differ. */
const clockTolerance = 60
const discoveryLifetime = 3_600_000

type Flow = {
  issuer: string
  scopes: string[]
  authorization: string
  token: string
  sendsSecretInForm: boolean
  /** Keys of whoever signs ID tokens; without, the profile says who it is. */
  jwks?: string
  profile?: { url: string; read: (profile: Record<string, unknown>) => { subject: unknown; name: unknown } }
}

/**
 * Providers over HTTP: the code flow with PKCE, ID tokens where the provider speaks OpenID Connect. Each of the
 * two steps ends after `timeout` milliseconds, whatever is still missing. Documents of discovery are kept for
 * an hour, keys are not kept.
 */
export function httpOauth({
  addresses = publicAddresses,
  timeout = 10_000,
  now = Date.now,
}: { addresses?: ProviderAddresses; timeout?: number; now?: () => number } = {}): OauthGateway {
  const discovered = new Map<string, { flow: Flow; until: number }>()
  const discover = async (issuer: string, signal: AbortSignal): Promise<Flow> => {
    const kept = discovered.get(issuer)
    if (kept && kept.until > now()) return kept.flow
    const flow = await discoverFlow(issuer, signal)
    discovered.set(issuer, { flow, until: now() + discoveryLifetime })
    return flow
  }
  const flowOf = async ({ provider, issuer }: OauthClient, signal: AbortSignal): Promise<Flow> => {
    if (provider === 'github') return githubFlow(addresses.github)
    if (provider === 'discord') return discordFlow(addresses.discord)
    return discover(provider === 'google' ? addresses.google : (issuer ?? ''), signal)
  }
  return {
    authorizationUrl: async (client, secrets) => {
      const flow = await flowOf(client, AbortSignal.timeout(timeout))
      return authorizationUrl(flow, client, secrets)
    },
    identify: async (client, code, secrets) => {
      const signal = AbortSignal.timeout(timeout)
      const flow = await flowOf(client, signal)
      const tokens = await exchange(flow, client, code, secrets.verifier, signal)
      const { subject, name } = flow.jwks
        ? await readIdToken(flow, flow.jwks, client, tokens.idToken(), secrets.nonce, { signal, now: now() })
        : await readProfile(flow, tokens.accessToken(), signal)
      return { issuer: flow.issuer, subject: requireSubject(subject), displayName: shownName(name, subject) }
    },
  }
}

const githubFlow = ({ authorization, token, user }: ProviderAddresses['github']): Flow => ({
  issuer: 'https://github.com',
  scopes: [],
  authorization,
  token,
  sendsSecretInForm: true,
  // Names can be given up and taken by others; numbers cannot.
  profile: { url: user, read: ({ id, login }) => ({ subject: numberAsText(id), name: login }) },
})

const discordFlow = ({ authorization, token, user }: ProviderAddresses['discord']): Flow => ({
  issuer: 'https://discord.com',
  scopes: ['identify'],
  authorization,
  token,
  sendsSecretInForm: true,
  profile: { url: user, read: ({ id, username }) => ({ subject: id, name: username }) },
})

const numberAsText = (id: unknown) => (Number.isSafeInteger(id) && Number(id) > 0 ? String(id) : null)

/** What an issuer says of itself, once it is sure that it speaks of itself. */
async function discoverFlow(configured: string, signal: AbortSignal): Promise<Flow> {
  const url = `${withoutSlash(configured)}/.well-known/openid-configuration`
  const document = membersOf(await callJson('The issuer', url, { signal }))
  const { issuer } = document
  if (typeof issuer !== 'string' || withoutSlash(issuer) !== withoutSlash(configured)) {
    throw new Error('The issuer calls itself by another name.')
  }
  const addressOf = (name: string) => requireAddress(document[name], configured)
  const methods = document['token_endpoint_auth_methods_supported']
  return {
    issuer,
    scopes: ['openid', 'profile'],
    authorization: addressOf('authorization_endpoint'),
    token: addressOf('token_endpoint'),
    sendsSecretInForm: Array.isArray(methods) && methods.includes('client_secret_post'),
    jwks: addressOf('jwks_uri'),
  }
}

const withoutSlash = (address: string) => address.replace(/\/+$/, '')

/** Browsers and secrets go nowhere on a worse way than to the issuer itself. */
function requireAddress(value: unknown, issuer: string): string {
  const address = typeof value === 'string' ? URL.parse(value) : null
  if (!address || !['https:', URL.parse(issuer)?.protocol].includes(address.protocol)) {
    throw new Error('The issuer gives an address that cannot be used.')
  }
  return address.href
}

function authorizationUrl(flow: Flow, client: OauthClient, { state, verifier, nonce }: OauthSecrets): string {
  const { S256 } = CodeChallengeMethod
  const url = new OAuth2Client(
    client.clientId,
    client.clientSecret,
    client.redirectUri,
  ).createAuthorizationURLWithPKCE(flow.authorization, state, S256, verifier, flow.scopes)
  if (flow.jwks) url.searchParams.set('nonce', nonce)
  return url.href
}

/** Our own call: that of the library follows redirects with the code, and waits for ever. */
async function exchange(
  flow: Flow,
  client: OauthClient,
  code: string,
  verifier: string,
  signal: AbortSignal,
): Promise<OAuth2Tokens> {
  const { clientId, clientSecret, redirectUri } = client
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  })
  const headers = new Headers()
  if (flow.sendsSecretInForm) {
    form.set('client_id', clientId)
    form.set('client_secret', clientSecret)
  } else {
    headers.set(
      'authorization',
      `Basic ${btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)}`,
    )
  }
  const answer = await callJson('The token endpoint', flow.token, {
    method: 'POST',
    headers,
    body: form,
    signal,
  })
  return new OAuth2Tokens(membersOf(answer))
}

/** The claims of an ID token that this issuer signed for this client and this attempt, not long ago. */
async function readIdToken(
  flow: Flow,
  jwksUrl: string,
  { clientId }: OauthClient,
  idToken: string,
  nonce: string,
  { signal, now }: { signal: AbortSignal; now: number },
) {
  const keys = await callJson('The key endpoint', jwksUrl, { signal })
  const { payload } = await jwtVerify(idToken, createLocalJWKSet(keys as JSONWebKeySet), {
    issuer: flow.issuer,
    audience: clientId,
    algorithms,
    clockTolerance,
    currentDate: new Date(now),
    requiredClaims: ['sub', 'iat', 'exp', 'nonce'],
  })
  if (payload['nonce'] !== nonce) throw new Error('The ID token belongs to another attempt.')
  const isForOthers = Array.isArray(payload.aud) && payload.aud.length > 1
  if ((isForOthers || payload['azp'] !== undefined) && payload['azp'] !== clientId) {
    throw new Error('The ID token was issued to another client.')
  }
  return { subject: payload.sub, name: payload['name'] ?? payload['preferred_username'] }
}

async function readProfile({ profile }: Flow, accessToken: string, signal: AbortSignal) {
  if (!profile) throw new Error('There is no profile to read.')
  const headers = { authorization: `Bearer ${accessToken}` }
  return profile.read(membersOf(await callJson('The profile', profile.url, { headers, signal })))
}

function requireSubject(subject: unknown): string {
  if (typeof subject === 'string' && /^[\x20-\x7e]{1,255}$/.test(subject)) return subject
  throw new Error('The provider does not say who it is.')
}

const shownName = (name: unknown, subject: unknown): string =>
  (typeof name === 'string'
    ? name
        .slice(0, 191)
        .replace(/[^\P{C}]/gu, '')
        .trim()
    : '') || String(subject)
