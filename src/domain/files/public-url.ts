import { isPublicHost } from '../../ip-addresses.ts'

/**
 * Parses a URL from which a daemon may fetch a file; null for another scheme than HTTP, for credentials, and for
 * a host that is not public by its name or address. What a public name resolves to, only the daemon can check
 * (IN-8).
 */
export function parsePublicUrl(text: string): URL | null {
  // The URL parser drops tabs and line breaks silently.
  if (/[\p{Cc}\p{White_Space}]/u.test(text) || !URL.canParse(text)) return null
  const url = new URL(text)
  const hasNoCredentials = url.username === '' && url.password === '' && !/^\w+:[/\\]*[^/\\]*@/.test(text)
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:'
  return isHttp && hasNoCredentials && isPublicHost(url.hostname) ? url : null
}
