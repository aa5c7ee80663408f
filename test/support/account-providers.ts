import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { OAuth2Server } from 'oauth2-mock-server'
import { testEgress } from './egress.ts'

type Provider = 'google' | 'github' | 'discord'
/** A registration that the providers know. */
type Client = { id: string; secret: string }
type Grant = { client: string; redirect: string; challenge: string; subject: string }

/** Google, GitHub and Discord at their addresses, for who sends requests by `send`. Users approve at once. */
export type AccountProviders = {
  send: (url: string, init?: RequestInit) => Promise<Response>
  /** Sets who is signed in at a provider, by the id there. */
  signIn: (provider: Provider, subject: string) => void
  stop: () => Promise<void>
}

/** Where GitHub and Discord answer, and what they say of a user. */
const pages: Record<string, { provider: Provider; what: 'authorize' | 'token' | 'user' }> = {
  '/github.com/login/oauth/authorize': { provider: 'github', what: 'authorize' },
  '/github.com/login/oauth/access_token': { provider: 'github', what: 'token' },
  '/api.github.com/user': { provider: 'github', what: 'user' },
  '/discord.com/oauth2/authorize': { provider: 'discord', what: 'authorize' },
  '/discord.com/api/oauth2/token': { provider: 'discord', what: 'token' },
  '/discord.com/api/users/@me': { provider: 'discord', what: 'user' },
}
const profiles = {
  github: (id: string) => ({ id: Number(id), login: `octo-${id}` }),
  discord: (id: string) => ({ id, username: `user-${id}` }),
}

/** Starts the providers, which know one client. */
export async function startAccountProviders(client: Client): Promise<AccountProviders> {
  const subjects: Record<Provider, string> = { google: '', github: '', discord: '' }
  const google = await startGoogle(() => subjects.google)
  const open = { client, subjects, codes: new Map<string, Grant>(), tokens: new Map<string, string>() }
  const others = createServer((request, response) => void answer(request, response, open))
  await new Promise<void>((resolve) => void others.listen(0, '127.0.0.1', resolve))
  const { port } = others.address() as AddressInfo
  return {
    send: (address, init) => {
      const { hostname, pathname, search } = new URL(address)
      const origin =
        hostname === 'accounts.google.com' ? google.origin : `http://127.0.0.1:${port}/${hostname}`
      return testEgress.fetch(`${origin}${pathname}${search}`, init)
    },
    signIn: (provider, subject) => void (subjects[provider] = subject),
    stop: async () => {
      await google.stop()
      await new Promise((resolve) => void others.close(resolve))
    },
  }
}

async function startGoogle(subject: () => string) {
  const server = new OAuth2Server()
  await server.issuer.keys.generate('RS256')
  await server.start(0, '127.0.0.1')
  const origin = `http://127.0.0.1:${server.address().port}`
  server.issuer.url = 'https://accounts.google.com'
  server.service.on('beforeTokenSigning', (token: { payload: Record<string, unknown> }) => {
    token.payload['sub'] = subject()
  })
  return { origin, stop: () => server.stop() }
}

type Open = {
  client: Client
  subjects: Record<Provider, string>
  codes: Map<string, Grant>
  tokens: Map<string, string>
}

async function answer(request: IncomingMessage, response: ServerResponse, open: Open): Promise<void> {
  const url = new URL(request.url ?? '', 'http://provider')
  const page = pages[url.pathname]
  const json = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (!page || page.provider === 'google') return void json(404, {})
  if (page.what === 'authorize') {
    const location = approve(url.searchParams, open, open.subjects[page.provider])
    return void response.writeHead(302, { location }).end()
  }
  if (page.what === 'token') {
    const token = exchange(new URLSearchParams(await text(request)), open)
    // GitHub says no with 200.
    return void (token
      ? json(200, { access_token: token, token_type: 'bearer' })
      : json(200, { error: 'bad' }))
  }
  const subject = open.tokens.get((request.headers.authorization ?? '').replace('Bearer ', ''))
  return void (subject === undefined ? json(401, {}) : json(200, profiles[page.provider](subject)))
}

function approve(query: URLSearchParams, { codes }: Open, subject: string): string {
  const code = randomUUID()
  const redirect = query.get('redirect_uri') ?? ''
  codes.set(code, {
    client: query.get('client_id') ?? '',
    redirect,
    challenge: query.get('code_challenge') ?? '',
    subject,
  })
  const back = new URL(redirect)
  back.searchParams.set('code', code)
  back.searchParams.set('state', query.get('state') ?? '')
  return back.href
}

/** Returns a token for a code that is used once, by the client and browser that it was given to; null otherwise. */
function exchange(form: URLSearchParams, { client, codes, tokens }: Open): string | null {
  const grant = codes.get(form.get('code') ?? '')
  codes.delete(form.get('code') ?? '')
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url')
  const isMeant =
    grant !== undefined &&
    grant.challenge === challenge &&
    grant.redirect === form.get('redirect_uri') &&
    grant.client === client.id &&
    form.get('client_id') === client.id &&
    form.get('client_secret') === client.secret
  if (!isMeant) return null
  const token = randomUUID()
  tokens.set(token, grant.subject)
  return token
}
