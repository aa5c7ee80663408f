import type { RawAnswer } from '../../support/raw-http.ts'
import type { Fixtures } from './fixtures.ts'
import { cookiesOf, openBrowser, type WireRequest } from './wire.ts'

/** The compared part of a response: status, form of the body, and headers beyond the common ones. */
export type Recorded = { answer: string; headers?: Record<string, unknown> }

type Caller = 'guest' | 'admin' | 'player' | 'node' | 'browser'

/** One request, and the response of every platform. */
export type Probe = {
  title: string
  /** Whose credential is sent, the method, and the path, in which SERVER is the server of the fixtures. */
  call: `${Caller} ${string} /${string}`
  request?: WireRequest
  expected: Recorded
}

/** Headers that are the same in every response; those of `ofPages` are a page's own. */
const common: Record<string, string> = {
  'content-type': 'application/json',
  'cache-control': 'no-store, private',
  'content-security-policy': "default-src 'none'",
  'x-content-type-options': 'nosniff',
}
const ofPages = ['content-type', 'content-security-policy']
const others = ['allow', 'location', 'www-authenticate']

/** Extracts the compared part of a response. */
export function record(answer: RawAnswer): Recorded {
  const { status, headers, text } = answer
  const seen: Record<string, unknown> = {}
  const isPage = /^text\/html\b/.test(headers.get('content-type') ?? '')
  for (const [name, value] of Object.entries(common)) {
    const given = (headers.get(name) ?? '').replace(/; *charset=utf-8$/i, '')
    const isWithoutBody = name === 'content-type' && text === ''
    if (given !== value && !isWithoutBody && !(isPage && ofPages.includes(name))) seen[name] = given
  }
  for (const name of others) {
    const value = headers.get(name)
    if (value !== null) seen[name] = value.split(', ').toSorted().join(', ')
  }
  if (headers.getSetCookie().length > 0) seen['set-cookie'] = cookiesOf(headers)
  const form = isPage ? 'page' : answer.body === null ? text : formOf(answer.body)
  return {
    answer: `${status} ${form}`.trim(),
    ...(Object.keys(seen).length > 0 ? { headers: seen } : {}),
  }
}

/** Describes a body: the error code, the name of the resource, or the names of members. */
function formOf(body: any): string {
  if (Array.isArray(body.errors)) {
    const words = body.errors.map(({ code, meta }: any) =>
      meta?.source_field === undefined ? code : `${code} ${meta.source_field}: ${meta.rule}`,
    )
    return words.join(', ')
  }
  if (body.object === 'list') return `list of ${body.data.length}`
  return body.object ?? Object.keys(body).toSorted().join(', ')
}

/** Sends the request of a probe. */
export async function send(fixtures: Fixtures, { call, request = {} }: Probe): Promise<RawAnswer> {
  const [as = '', method = '', path = ''] = call.replace('SERVER', fixtures.server.uuid).split(' ')
  if (as === 'browser') return (await signedIn(fixtures)).send(method, path, request)
  const bearers = new Map([
    ['admin', fixtures.adminKey],
    ['player', fixtures.playerKey],
    ['node', fixtures.node.token],
  ])
  const bearer = bearers.get(as)
  return fixtures.wire(method, path, { ...(bearer ? { bearer } : {}), ...request })
}

const browsers = new WeakMap<Fixtures, Promise<ReturnType<typeof openBrowser>>>()

/** Opens a signed-in browser of the user, the same one for all probes. */
function signedIn(fixtures: Fixtures): Promise<ReturnType<typeof openBrowser>> {
  const open = async () => {
    const browser = openBrowser(fixtures.wire, fixtures.platform.origin, fixtures.address)
    await browser.send('GET', '/sanctum/csrf-cookie')
    const json = { user: fixtures.player.username, password: fixtures.player.password }
    await browser.send('POST', '/auth/login', { json })
    return browser
  }
  const opened = browsers.get(fixtures) ?? open()
  browsers.set(fixtures, opened)
  return opened
}
