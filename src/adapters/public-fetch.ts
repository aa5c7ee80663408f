import type { Reason, ReasonValues } from '../errors.ts'
import { isPublicHost } from '../ip-addresses.ts'
import { egressRule, isMetadataName } from './egress.ts'

/** A text and the address at which it was after redirects, or what says to the user why there is none. */
export type FetchedText = { text: string; url: string } | { refusal: FetchRefusal }

/** Fetches a text from an address that a user entered. */
export type PublicFetch = (url: URL) => Promise<FetchedText>

/** Says why an address gives no text; thrown by a `SendGet`. */
export class FetchRefusal extends Error {
  readonly why: { reason: Reason; values?: ReasonValues }

  constructor(reason: Reason, detail: string, values?: ReasonValues) {
    super(detail)
    this.why = { reason, ...(values ? { values } : {}) }
  }
}

/**
 * Sends one GET and does not follow a redirect. Where names can be resolved, it connects only to an address for which
 * `isAllowed` is true, and throws a `FetchRefusal` otherwise.
 */
export type SendGet = (
  url: URL,
  options: { signal: AbortSignal; isAllowed: (address: string) => boolean },
) => Promise<Response>

const maxRedirects = 3
const maxTextLength = 1024 * 1024
const redirectStatuses = [301, 302, 303, 307, 308]

/**
 * Creates a fetch over HTTPS of at most 1 Mi characters within `timeoutMs`, which follows three redirects and checks
 * each. Addresses outside the public internet must be in `allowedNetworks` (CIDR).
 */
export function publicFetch(
  sendGet: SendGet,
  {
    allowedNetworks = [],
    timeoutMs = 10_000,
  }: { allowedNetworks?: readonly string[]; timeoutMs?: number } = {},
): PublicFetch {
  const isAllowed = egressRule(allowedNetworks)
  return async (start) => {
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      return await followRedirects(start, (url) => {
        requireAllowedUrl(url, isAllowed, allowedNetworks.length > 0)
        return sendGet(url, { signal, isAllowed })
      })
    } catch (error) {
      if (error instanceof FetchRefusal) return { refusal: error }
      const refusal = signal.aborted
        ? new FetchRefusal('address_slow', 'The address did not answer in time.')
        : new FetchRefusal('address_unreachable', 'The address cannot be reached.')
      return { refusal }
    }
  }
}

async function followRedirects(start: URL, send: (url: URL) => Promise<Response>): Promise<FetchedText> {
  let url = start
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const response = await send(url)
    if (response.status === 200) return { text: await readText(response), url: url.href }
    await response.body?.cancel()
    const location = response.headers.get('location')
    if (!redirectStatuses.includes(response.status) || location === null)
      throw new FetchRefusal('address_status', `The address answered with status ${response.status}.`, {
        status: response.status,
      })
    const next = URL.parse(location, url)
    if (!next) throw new FetchRefusal('address_redirect_invalid', 'The address redirects to an invalid one.')
    url = next
  }
  throw new FetchRefusal('address_redirects_too_often', 'The address redirects too often.')
}

/** Stops reading at the limit. */
async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.length > maxTextLength)
      throw new FetchRefusal('address_text_too_large', 'The address sent more than 1 MiB.')
  }
  return text + decoder.decode()
}

/** Checks what the URL alone says; what its name resolves to is checked when connecting. */
function requireAllowedUrl(url: URL, isAllowed: (address: string) => boolean, hasNetworks: boolean): void {
  if (url.protocol !== 'https:')
    throw new FetchRefusal('address_not_https', 'The address must begin with https://.')
  if (url.username !== '' || url.password !== '')
    throw new FetchRefusal(
      'address_with_credentials',
      'The address must not contain a user name or password.',
    )
  const host = url.hostname
  const isName = !/^\[|^[\d.]+$/.test(host)
  const isCallable = isName ? (hasNetworks || isPublicHost(host)) && !isMetadataName(host) : isAllowed(host)
  if (!isCallable) throw privateAddress(host)
}

/** The refusal of a host that is not on the public internet. */
export const privateAddress = (host: string) =>
  new FetchRefusal(
    'address_not_public',
    `${host} is not on the public internet, and its network is not in FETCH_ALLOWED_NETWORKS.`,
    { host },
  )
