import { CodeChallengeMethod, OAuth2Client, OAuth2Tokens } from 'arctic'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import type { Egress } from './egress.ts'
import { asRecord, fetchJson } from './fetch-json.ts'

/** The registration of the panel at a provider. */
export type OauthClient = {
  provider: 'google' | 'github' | 'discord' | 'oidc'
  /** For `oidc`; null for the others. */
  issuer: string | null
  clientId: string
  clientSecret: string
  redirectUri: string
}

/** The secrets of one attempt, which bind the answer of the provider to the browser that started it. */
export type OauthSecrets = { state: string; verifier: string; nonce: string }

/** An identity at a provider. `issuer` and `subject` never change; the name is for display. */
export type ProviderIdentity = { issuer: string; subject: string; displayName: string }

/** Identifies users by sign-in providers. */
export type OauthGateway = {
  /** Returns the provider's page on which the user consents. Throws when discovery fails. */
  authorizationUrl: (client: OauthClient, secrets: OauthSecrets) => Promise<string>
  /** Exchanges the code for the identity of the user. Throws unless the provider confirms it verifiably. */
  identify: (client: OauthClient, code: string, secrets: OauthSecrets) => Promise<ProviderIdentity>
}

/** Endpoints of the providers that are not configurable. */
export type ProviderEndpoints = {
  google: string
  github: { authorization: string; token: string; user: string }
  discord: { authorization: string; token: string; user: string }
}

const publicEndpoints: ProviderEndpoints = {
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

/** Issuers of the providers that have one for all panels. */
export const identityIssuers = {
  google: 'https://accounts.google.com',
  github: 'https://github.com',
  discord: 'https://discord.com',
} as const

/** Asymmetric signature algorithms of ID tokens. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
/** Seconds by which clocks may differ. */
const clockToleranceSeconds = 60
const discoveryTtlMs = 3_600_000

type Flow = {
  issuer: string
  scopes: string[]
  authorization: string
  token: string
  sendsSecretInForm: boolean
  /** URL of the keys that sign ID tokens; without it the profile identifies the user. */
  jwks?: string
  profile?: { url: string; read: (profile: Record<string, unknown>) => { subject: unknown; name: unknown } }
}

/**
 * Creates a gateway over HTTP: the code flow with PKCE, with ID tokens where the provider supports OpenID Connect. Each
 * of the two steps has `timeoutMs`. Discovery documents are cached for an hour, keys are not cached.
 */
export function httpOauth(
  send: Egress['fetch'],
  {
    endpoints = publicEndpoints,
    timeoutMs = 10_000,
    now = Date.now,
  }: { endpoints?: ProviderEndpoints; timeoutMs?: number; now?: () => number } = {},
): OauthGateway {
  const discovered = new Map<string, { flow: Flow; expiresAt: number }>()
  const discover = async (issuer: string, signal: AbortSignal): Promise<Flow> => {
    const cached = discovered.get(issuer)
    if (cached && cached.expiresAt > now()) return cached.flow
    const flow = await discoverFlow(send, issuer, signal)
    discovered.set(issuer, { flow, expiresAt: now() + discoveryTtlMs })
    return flow
  }
  const resolveFlow = async ({ provider, issuer }: OauthClient, signal: AbortSignal): Promise<Flow> => {
    if (provider === 'github') return githubFlow(endpoints.github)
    if (provider === 'discord') return discordFlow(endpoints.discord)
    return discover(provider === 'google' ? endpoints.google : (issuer ?? ''), signal)
  }
  return {
    authorizationUrl: async (client, secrets) => {
      const flow = await resolveFlow(client, AbortSignal.timeout(timeoutMs))
      return authorizationUrl(flow, client, secrets)
    },
    identify: async (client, code, secrets) => {
      const signal = AbortSignal.timeout(timeoutMs)
      const flow = await resolveFlow(client, signal)
      const tokens = await exchangeCode(send, flow, client, code, secrets.verifier, signal)
      const { subject, name } = flow.jwks
        ? await readIdToken(send, flow, flow.jwks, client, tokens.idToken(), secrets.nonce, {
            signal,
            now: now(),
          })
        : await readProfile(send, flow, tokens.accessToken(), signal)
      return {
        issuer: flow.issuer,
        subject: requireSubject(subject),
        displayName: cleanDisplayName(name, subject),
      }
    },
  }
}

const githubFlow = ({ authorization, token, user }: ProviderEndpoints['github']): Flow => ({
  issuer: identityIssuers.github,
  scopes: [],
  authorization,
  token,
  sendsSecretInForm: true,
  // Another account can take a released name, but not a number.
  profile: { url: user, read: ({ id, login }) => ({ subject: numericId(id), name: login }) },
})

const discordFlow = ({ authorization, token, user }: ProviderEndpoints['discord']): Flow => ({
  issuer: identityIssuers.discord,
  scopes: ['identify'],
  authorization,
  token,
  sendsSecretInForm: true,
  profile: { url: user, read: ({ id, username }) => ({ subject: id, name: username }) },
})

const numericId = (id: unknown) => (Number.isSafeInteger(id) && Number(id) > 0 ? String(id) : null)

/** Reads the discovery document of an issuer. Throws when it names another issuer. */
async function discoverFlow(send: Egress['fetch'], configured: string, signal: AbortSignal): Promise<Flow> {
  const url = `${trimTrailingSlash(configured)}/.well-known/openid-configuration`
  const document = asRecord(await fetchJson(send, 'The issuer', url, { signal }))
  const { issuer } = document
  if (typeof issuer !== 'string' || trimTrailingSlash(issuer) !== trimTrailingSlash(configured)) {
    throw new Error('The discovery document names another issuer.')
  }
  const endpointUrl = (name: string) => requireIssuerUrl(document[name], configured)
  const methods = document['token_endpoint_auth_methods_supported']
  return {
    issuer,
    scopes: ['openid', 'profile'],
    authorization: endpointUrl('authorization_endpoint'),
    token: endpointUrl('token_endpoint'),
    sendsSecretInForm: Array.isArray(methods) && methods.includes('client_secret_post'),
    jwks: endpointUrl('jwks_uri'),
  }
}

const trimTrailingSlash = (address: string) => address.replace(/\/+$/, '')

/** Returns an endpoint of the issuer. Throws unless it is encrypted, or as unencrypted as the configured issuer. */
function requireIssuerUrl(value: unknown, issuer: string): string {
  const address = typeof value === 'string' ? URL.parse(value) : null
  if (!address || !['https:', URL.parse(issuer)?.protocol].includes(address.protocol)) {
    throw new Error('The discovery document has an invalid endpoint.')
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

/** Exchanges the code for tokens. The library's call would follow redirects with the code, and has no timeout. */
async function exchangeCode(
  send: Egress['fetch'],
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
  const response = await fetchJson(send, 'The token endpoint', flow.token, {
    method: 'POST',
    headers,
    body: form,
    signal,
  })
  return new OAuth2Tokens(asRecord(response))
}

/** Verifies an ID token: signature, issuer, client, attempt and age. Returns the subject and name of the user. */
async function readIdToken(
  send: Egress['fetch'],
  flow: Flow,
  jwksUrl: string,
  { clientId }: OauthClient,
  idToken: string,
  nonce: string,
  { signal, now }: { signal: AbortSignal; now: number },
) {
  const keys = await fetchJson(send, 'The key endpoint', jwksUrl, { signal })
  const { payload } = await jwtVerify(idToken, createLocalJWKSet(keys as JSONWebKeySet), {
    issuer: flow.issuer,
    audience: clientId,
    algorithms,
    clockTolerance: clockToleranceSeconds,
    currentDate: new Date(now),
    requiredClaims: ['sub', 'iat', 'exp', 'nonce'],
  })
  if (payload['nonce'] !== nonce) throw new Error('The ID token belongs to another attempt.')
  const hasOtherAudiences = Array.isArray(payload.aud) && payload.aud.length > 1
  if ((hasOtherAudiences || payload['azp'] !== undefined) && payload['azp'] !== clientId) {
    throw new Error('The ID token was issued to another client.')
  }
  return { subject: payload.sub, name: payload['name'] ?? payload['preferred_username'] }
}

async function readProfile(
  send: Egress['fetch'],
  { profile }: Flow,
  accessToken: string,
  signal: AbortSignal,
) {
  if (!profile) throw new Error('There is no profile to read.')
  const headers = { authorization: `Bearer ${accessToken}` }
  return profile.read(asRecord(await fetchJson(send, 'The profile', profile.url, { headers, signal })))
}

function requireSubject(subject: unknown): string {
  if (typeof subject === 'string' && /^[\x20-\x7e]{1,255}$/.test(subject)) return subject
  throw new Error('The provider did not identify the user.')
}

const cleanDisplayName = (name: unknown, subject: unknown): string =>
  (typeof name === 'string'
    ? name
        .slice(0, 191)
        .replace(/[^\P{C}]/gu, '')
        .trim()
    : '') || String(subject)
