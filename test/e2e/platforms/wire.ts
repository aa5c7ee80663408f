import { type RawAnswer, sendRaw } from '../../support/raw-http.ts'

export type WireRequest = {
  bearer?: string
  json?: unknown
  /** In place of `json`. */
  body?: string | Uint8Array
  headers?: Record<string, string | string[]>
  /** Address of this machine from which the request comes. */
  from?: string
}

/** Sends a request to a panel; paths are sent as they are written. */
export type Wire = (method: string, path: string, request?: WireRequest) => Promise<RawAnswer>

/** Creates a function that sends requests to the panel at `origin`. */
export const wireTo =
  (origin: string): Wire =>
  (method, path, request = {}) => {
    const {
      bearer,
      json,
      body = json === undefined ? undefined : JSON.stringify(json),
      headers,
      from,
    } = request
    return sendRaw(new URL(origin), method, path, {
      headers: {
        accept: 'application/json',
        ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      ...(from ? { from } : {}),
    })
  }

/** Opens a browser: it keeps cookies, and sends the headers that pages of the panel send. */
export function openBrowser(wire: Wire, origin: string, from?: string) {
  const cookies = new Map<string, string>()
  const send: Wire = async (method, path, request = {}) => {
    const sent = {
      origin,
      ...(cookies.size > 0 ? { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') } : {}),
      ...(cookies.has('XSRF-TOKEN') ? { 'x-xsrf-token': cookies.get('XSRF-TOKEN') ?? '' } : {}),
    }
    const answer = await wire(method, path, {
      ...(from ? { from } : {}),
      ...request,
      headers: { ...sent, ...request.headers },
    })
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const at = pair.indexOf('=')
      cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return answer
  }
  return { cookies, send }
}

/** Parses the cookies of a response as name → attributes in lower case, sorted; without `expires`, which gateways add to `max-age`. */
export const cookiesOf = (headers: Headers): Record<string, string[]> =>
  Object.fromEntries(
    headers.getSetCookie().map((line) => {
      const [pair = '', ...attributes] = line.split(/; */)
      return [
        pair.split('=')[0],
        attributes
          .map((each) => each.toLowerCase())
          .filter((each) => !each.startsWith('expires='))
          .toSorted(),
      ]
    }),
  )
