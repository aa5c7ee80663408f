import ipaddr from 'ipaddr.js'

/** Returns the canonical form of an IP address: without a zone, IPv4-mapped IPv6 as IPv4. Null when it is not an address. */
export function canonicalAddress(text: string): string | null {
  const stripped = text
    .trim()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/%.*$/, '')
  if (!isPlainAddress(stripped)) return null
  return ipaddr.process(stripped).toString()
}

/**
 * Whether the host of a parsed URL is this machine: a name of localhost, or an address of the loopback network. An
 * IPv4-mapped address counts when `includesMapped`.
 */
export function isLoopbackHost(hostname: string, includesMapped = false): boolean {
  if (/^(?:.+\.)?localhost\.?$/.test(hostname)) return true
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  if (!isPlainAddress(address)) return false
  return (includesMapped ? ipaddr.process(address) : ipaddr.parse(address)).range() === 'loopback'
}

/** Whether the address matches one of the addresses or CIDR ranges. An empty list allows all addresses. */
export function isAllowedAddress(address: string, ranges: readonly string[]): boolean {
  if (ranges.length === 0) return true
  const canonical = canonicalAddress(address)
  if (canonical === null) return false
  const parsed = ipaddr.parse(canonical)
  return ranges.some((range) => {
    const [base, bits] = parseRange(range) ?? [null, 0]
    return base !== null && base.kind() === parsed.kind() && parsed.match(base, bits)
  })
}

/** Whether the address or CIDR range lies in one of the ranges. An empty list contains all addresses. */
export function isRangeWithin(range: string, ranges: readonly string[]): boolean {
  if (ranges.length === 0) return true
  const inner = parseRange(range)
  if (!inner) return false
  return ranges.some((text) => {
    const outer = parseRange(text)
    return (
      outer !== null &&
      outer[0].kind() === inner[0].kind() &&
      outer[1] <= inner[1] &&
      inner[0].match(outer[0], outer[1])
    )
  })
}

/** Whether the text is an address or a CIDR range. */
export const isAddressRange = (text: string) => parseRange(text) !== null

/** Returns a range with its address in canonical form; an address stays one. Null when the text is neither. */
export function canonicalRange(text: string): string | null {
  const range = parseRange(text)
  if (!range) return null
  const address = canonicalAddress(range[0].toString())
  return address !== null && text.includes('/') ? `${address}/${range[1]}` : address
}

function parseRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | null {
  const [address = '', mask, ...rest] = text.trim().split('/')
  if (rest.length > 0 || !isPlainAddress(address)) return null
  const original = ipaddr.parse(address)
  const base = ipaddr.process(address)
  const maxBits = original.kind() === 'ipv4' ? 32 : 128
  if (mask !== undefined && !(/^\d{1,3}$/.test(mask) && Number(mask) <= maxBits)) return null
  const bits = mask === undefined ? maxBits : Number(mask)
  // The mask of an IPv4-mapped range includes the 96 bits of the prefix.
  if (original.kind() !== base.kind()) return bits >= 96 ? [base, bits - 96] : null
  return [base, bits]
}

/** Whether the text is an address in the usual notation; ipaddr.js also accepts hexadecimal and shortened IPv4. */
function isPlainAddress(text: string): boolean {
  if (text.includes(':')) return ipaddr.IPv6.isValid(text)
  return ipaddr.IPv4.isValidFourPartDecimal(text) && !/(^|\.)0\d/.test(text)
}

/**
 * Returns the network whose attempts count together: the IPv4 address, or the /64 of a canonical IPv6
 * address.
 */
export const networkOf = (address: string): string =>
  address.includes(':') ? ipv6Prefix(address, 4) : address

/** Returns the /48 of a canonical IPv6 address, which one customer may hold as a whole; null for IPv4. */
export const siteOf = (address: string): string | null =>
  address.includes(':') ? ipv6Prefix(address, 3) : null

function ipv6Prefix(address: string, groups: number): string {
  const parts = ipaddr.IPv6.parse(address).parts.slice(0, groups)
  return `${parts.map((part) => part.toString(16)).join(':')}::/${16 * groups}`
}

/** Where IPv6 addresses of a translator or tunnel have the IPv4 address to which their packets go. */
const embeddings: readonly [range: string, firstGroup: number, mask: number][] = [
  ['::/96', 6, 0],
  ['::ffff:0:0:0/96', 6, 0],
  ['64:ff9b::/96', 6, 0],
  ['64:ff9b:1::/48', 6, 0],
  ['2002::/16', 1, 0],
  // Teredo inverts the address.
  ['2001::/32', 6, 0xffff],
]

/** Returns the IPv4 addresses to which packets for a canonical IPv6 address go by NAT64, 6to4 or Teredo. */
export const embeddedIpv4 = (address: string): string[] =>
  embeddings
    .filter(([range]) => address.includes(':') && isAllowedAddress(address, [range]))
    .map(([, firstGroup, mask]) => ipv4At(address, firstGroup, mask))

/** Returns the IPv4 address in the last 32 bits of a canonical IPv6 address; null for others. */
export const lastIpv4 = (address: string): string | null =>
  address.includes(':') ? ipv4At(address, 6) : null

const ipv4At = (address: string, firstGroup: number, mask = 0): string =>
  ipaddr.IPv6.parse(address)
    .parts.slice(firstGroup, firstGroup + 2)
    .flatMap((part) => [(part ^ mask) >> 8, (part ^ mask) & 0xff])
    .join('.')

/** Endings of host names that are not public. */
const privateHostPattern =
  /(^|\.)(localhost|localdomain|local|internal|intranet|lan|home|corp|private|test|invalid|onion|arpa)$/

/** Whether the address is one of the public internet; an IPv4-mapped address counts as its IPv4 address. */
export function isPublicAddress(text: string): boolean {
  const address = canonicalAddress(text)
  if (address === null) return false
  return address.includes(':') ? isPublicIpv6(address) : ipaddr.IPv4.parse(address).range() === 'unicast'
}

/**
 * Whether a host is public by its name or address. Expects it as the URL parser writes it: IPv4 as four decimals, IPv6
 * in brackets.
 */
export function isPublicHost(hostname: string): boolean {
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
