import { type ClientRequestOptions, hc } from 'hono/client'
import type { browser } from '../../surfaces/browser.ts'
import type { client } from '../../surfaces/client.ts'
import type { monitoring } from '../../surfaces/monitoring.ts'
import { send } from './request.ts'

const options = {
  // Only addresses are fetched here, never a `Request`.
  fetch: (address: string | URL | Request, init?: RequestInit) => send(String(address), init),
  buildSearchParams: (query) => {
    const params = new URLSearchParams()
    for (const [name, value] of Object.entries<unknown>(query)) {
      if (value !== null && value !== undefined && value !== '') params.set(name, String(value))
    }
    return params
  },
} satisfies ClientRequestOptions

/** The Client API. Paths, inputs and answers have the types of its routes; a refusal throws a `RequestError`. */
export const clientApi = hc<typeof client>('/', options).api.client

/** The routes of the Client API below one server. */
export const serverApi = clientApi.servers[':server']

/** What only browsers call: signing in and the security of the account. */
export const browserApi = hc<typeof browser>('/', options)

/** What monitors call. */
export const monitoringApi = hc<typeof monitoring>('/', options)

/** Makes a request end when the signal is aborted. */
export const abortedBy = (signal: AbortSignal | undefined) => ({ init: { signal: signal ?? null } })

/** Reads the JSON body of an answer. */
export const json = async <Body>(answer: Promise<{ json: () => Promise<Body> }>): Promise<Body> =>
  (await answer).json()

/** Waits for an answer whose body, if it has one, says nothing. */
export const done = async (answer: Promise<unknown>): Promise<void> => void (await answer)
