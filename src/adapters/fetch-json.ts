import type { Egress } from './egress.ts'

const maxResponseLength = 256 * 1024

/**
 * Fetches JSON from an external service by `send`. Throws unless the answer has status 200 and at most 256 Ki characters
 * of valid JSON; does not follow redirects. `serviceName` begins the messages.
 */
export async function fetchJson(
  send: Egress['fetch'],
  serviceName: string,
  address: string,
  init: RequestInit,
): Promise<unknown> {
  const headers = new Headers(init.headers)
  headers.set('accept', 'application/json')
  headers.set('user-agent', 'Roost')
  const response = await send(address, { ...init, headers })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`${serviceName} answered ${response.status}.`)
  }
  return JSON.parse(await readBoundedText(serviceName, response, maxResponseLength))
}

/** Reads the body of an external service. Throws when it has more than `maxLength` characters. */
export async function readBoundedText(
  serviceName: string,
  response: Response,
  maxLength: number,
): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.length > maxLength) throw new Error(`${serviceName} sent too large an answer.`)
  }
  return text + decoder.decode()
}

/** Returns an object as a record, and anything else as an empty one. */
export const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
