import ipaddr from 'ipaddr.js'

/** Endings of names that no public server has. */
const innerNames =
  /(^|\.)(localhost|localdomain|local|internal|intranet|lan|home|corp|private|test|invalid|onion|arpa)$/

/**
 * The address as an HTTP client reads it, or null when a daemon must not be sent there: another scheme, a
 * credential inside, or a host that is not out in the internet by its own name. What a public name stands
 * for, only the daemon sees. Rule IN-8.
 */
export function publicAddress(text: string): URL | null {
  // The parser drops tabs and line ends silently.
  if (/[\p{Cc}\p{White_Space}]/u.test(text) || !URL.canParse(text)) return null
  const url = new URL(text)
  const isPlain = url.username === '' && url.password === '' && !/^\w+:[/\\]*[^/\\]*@/.test(text)
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:'
  return isHttp && isPlain && isPublicHost(url.hostname) ? url : null
}

/** A host as the parser writes it: IPv4 in four decimals whatever the notation, IPv6 in brackets. */
function isPublicHost(written: string): boolean {
  if (written.startsWith('[')) return isPublicIpv6(written.slice(1, -1))
  const host = written.replace(/\.+$/, '')
  if (ipaddr.IPv4.isValidFourPartDecimal(host)) return ipaddr.IPv4.parse(host).range() === 'unicast'
  // Names without a dot are those of a network's own machines; numbers never end a public name.
  return host.includes('.') && !innerNames.test(host) && !/\.\d+$/.test(host)
}

/** Only 2000::/3 is given out; the ranges within it that lead to IPv4 have names of their own. */
function isPublicIpv6(address: string): boolean {
  if (!ipaddr.IPv6.isValid(address)) return false
  const parsed = ipaddr.IPv6.parse(address)
  return ((parsed.parts[0] ?? 0) & 0xe000) === 0x2000 && parsed.range() === 'unicast'
}
