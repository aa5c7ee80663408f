import type { RawAnswer } from '../../support/raw-http.ts'
import type { Stage } from './stage.ts'
import { cookiesOf, openBrowser, type WireRequest } from './wire.ts'

/** What of an answer is compared: status and form of the body in words, and headers beside those of every answer. */
export type Recorded = { answer: string; headers?: Record<string, unknown> }

type Caller = 'nobody' | 'admin' | 'player' | 'node' | 'browser'

/** One request, and what every platform answers to it. */
export type Probe = {
  title: string
  /** Whose credential is sent, the method, and the path, in which SERVER is the stage's server. */
  call: `${Caller} ${string} /${string}`
  request?: WireRequest
  expected: Recorded
}

/** Headers that say the same in every answer but those of pages. */
const common: Record<string, string> = {
  'content-type': 'application/json',
  'cache-control': 'no-store, private',
  'content-security-policy': "default-src 'none'",
  'x-content-type-options': 'nosniff',
}
const others = ['allow', 'location', 'www-authenticate']

/** What of an answer can be compared with another one's. */
export function record(answer: RawAnswer): Recorded {
  const { status, headers, text } = answer
  const seen: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(common)) {
    const given = (headers.get(name) ?? '').replace(/; *charset=utf-8$/i, '')
    const isWithoutBody = name === 'content-type' && text === ''
    if (given !== value && !isWithoutBody) seen[name] = given
  }
  for (const name of others) {
    const value = headers.get(name)
    if (value !== null) seen[name] = value.split(', ').toSorted().join(', ')
  }
  if (headers.getSetCookie().length > 0) seen['set-cookie'] = cookiesOf(headers)
  const form = answer.body === null ? text : formOf(answer.body)
  return {
    answer: `${status} ${form}`.trim(),
    ...(Object.keys(seen).length > 0 ? { headers: seen } : {}),
  }
}

/** What went wrong, or the name of a resource, or the names of members. */
function formOf(body: any): string {
  if (Array.isArray(body.errors)) {
    const words = body.errors.map(({ code, meta }: any) =>
      meta ? `${code} ${meta.source_field}: ${meta.rule}` : code,
    )
    return words.join(', ')
  }
  if (body.object === 'list') return `list of ${body.data.length}`
  return body.object ?? Object.keys(body).toSorted().join(', ')
}

/** Sends the request of a probe. */
export async function send(stage: Stage, { call, request = {} }: Probe): Promise<RawAnswer> {
  const [as = '', method = '', path = ''] = call.replace('SERVER', stage.server.uuid).split(' ')
  if (as === 'browser') return (await signedIn(stage)).send(method, path, request)
  const bearers = new Map([
    ['admin', stage.adminKey],
    ['player', stage.playerKey],
    ['node', stage.node.token],
  ])
  const bearer = bearers.get(as)
  return stage.wire(method, path, { ...(bearer ? { bearer } : {}), ...request })
}

const browsers = new WeakMap<Stage, Promise<ReturnType<typeof openBrowser>>>()

/** A browser of the player, the same one for all probes. */
function signedIn(stage: Stage): Promise<ReturnType<typeof openBrowser>> {
  const open = async () => {
    const browser = openBrowser(stage.wire, stage.platform.origin, stage.address)
    await browser.send('GET', '/sanctum/csrf-cookie')
    const json = { user: stage.player.username, password: stage.player.password }
    await browser.send('POST', '/auth/login', { json })
    return browser
  }
  const opened = browsers.get(stage) ?? open()
  browsers.set(stage, opened)
  return opened
}
