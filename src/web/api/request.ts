import { secondFactorDemand } from '../app/second-factor-demand.ts'
import { RequestError, refusalOf } from './error.ts'

type Query = Record<string, string | number | boolean | null | undefined>

export type RequestOptions = {
  query?: Query
  /** Sent as JSON; a string as plain text, a form as it is. */
  body?: unknown
  /** The answer is handed over as it came, as an `ArrayBuffer`. */
  as?: 'bytes'
  signal?: AbortSignal
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Told when the session has ended while the page was open. */
export const sessionEnded = new EventTarget()

/** Answers of the panel: JSON, text where it is none, undefined where there is no body. Throws a `RequestError`. */
export async function request<Answer>(
  method: Method,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  let answer = await send(method, path, options)
  // The token of the page is older than the session: another tab signed in again.
  if (answer.status === 419) {
    await fetch('/sanctum/csrf-cookie')
    answer = await send(method, path, options)
  }
  if (!answer.ok) {
    const refusal = await refusalOf(answer)
    const isOfAccount = path.startsWith('/api/') || path.startsWith('/account/')
    if (answer.status === 401 && isOfAccount) sessionEnded.dispatchEvent(new Event('ended'))
    if (refusal.entries[0]?.code === 'TwoFactorAuthRequiredException') secondFactorDemand.raise()
    throw refusal
  }
  if (options.as === 'bytes') return (await answer.arrayBuffer()) as Answer
  if (answer.status === 204 || answer.headers.get('content-length') === '0') return undefined as Answer
  const isJson = answer.headers.get('content-type')?.includes('json')
  const text = await answer.text()
  if (!isJson) return text as Answer
  return (text === '' ? undefined : JSON.parse(text)) as Answer
}

async function send(
  method: Method,
  path: string,
  { query, body, signal }: RequestOptions,
): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (method !== 'GET') headers['x-xsrf-token'] = csrfToken()
  if (typeof body === 'string') headers['content-type'] = 'text/plain'
  else if (body !== undefined && !(body instanceof FormData)) headers['content-type'] = 'application/json'
  try {
    return await fetch(withQuery(path, query), {
      method,
      headers,
      ...(body === undefined ? {} : { body: encoded(body) }),
      ...(signal ? { signal } : {}),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new RequestError(0, [], null, null)
  }
}

const encoded = (body: unknown) =>
  typeof body === 'string' || body instanceof FormData ? body : JSON.stringify(body)

function withQuery(path: string, query: Query | undefined): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value))
  }
  return search.size > 0 ? `${path}?${search}` : path
}

/** What shows that a change comes from a page of the panel. */
function csrfToken(): string {
  const cookie = document.cookie.split('; ').find((entry) => entry.startsWith('XSRF-TOKEN='))
  if (cookie) return decodeURIComponent(cookie.slice('XSRF-TOKEN='.length))
  return document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? ''
}
