import ipaddr from 'ipaddr.js'

/** Endings of host names that are not public. */
const privateHostPattern =
  /(^|\.)(localhost|localdomain|local|internal|intranet|lan|home|corp|private|test|invalid|onion|arpa)$/

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

/** Expects a host as the URL parser writes it: IPv4 as four decimals, IPv6 in brackets. */
function isPublicHost(hostname: string): boolean {
  if (hostname.startsWith('[')) return isPublicIpv6(hostname.slice(1, -1))
  const host = hostname.replace(/\.+$/, '')
  if (ipaddr.IPv4.isValidFourPartDecimal(host)) return ipaddr.IPv4.parse(host).range() === 'unicast'
  // Names without a dot belong to local networks; the last label of a public name is never a number.
  return host.includes('.') && !privateHostPattern.test(host) && !/\.\d+$/.test(host)
}

/** Only 2000::/3 is assigned; ranges in it that lead to IPv4 are not `unicast`. */
function isPublicIpv6(address: string): boolean {
  if (!ipaddr.IPv6.isValid(address)) return false
  const parsed = ipaddr.IPv6.parse(address)
  return ((parsed.parts[0] ?? 0) & 0xe000) === 0x2000 && parsed.range() === 'unicast'
}
