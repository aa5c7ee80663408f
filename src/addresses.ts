import ipaddr from 'ipaddr.js'

/** A textual address in one canonical form: zones stripped, IPv4 within IPv6 unwrapped. Null when it is none. */
export function canonicalAddress(text: string): string | null {
  const bare = text
    .trim()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/%.*$/, '')
  if (!isPlainAddress(bare)) return null
  return ipaddr.process(bare).toString()
}

/** Whether the host of a URL is the machine that asks for it. */
export const isLoopbackHost = (hostname: string) =>
  /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)

/** Whether `address` is one of the addresses, or within one of the CIDR ranges. An empty list allows every one. */
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

/** Whether the text is an address or a CIDR range that can be matched. */
export const isAddressRange = (text: string) => parseRange(text) !== null

/** A range as `isAllowedAddress` sees it: its address in canonical form, the mask where one is written. Null when it is none. */
export function canonicalRange(text: string): string | null {
  const range = parseRange(text)
  if (!range) return null
  const address = canonicalAddress(range[0].toString())
  return address !== null && text.includes('/') ? `${address}/${range[1]}` : address
}

function parseRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | null {
  const [address = '', mask, ...rest] = text.trim().split('/')
  if (rest.length > 0 || !isPlainAddress(address)) return null
  const written = ipaddr.parse(address)
  const base = ipaddr.process(address)
  const widest = written.kind() === 'ipv4' ? 32 : 128
  if (mask !== undefined && !(/^\d{1,3}$/.test(mask) && Number(mask) <= widest)) return null
  const bits = mask === undefined ? widest : Number(mask)
  // A range over IPv4 within IPv6 counts the 96 bits in front.
  if (written.kind() !== base.kind()) return bits >= 96 ? [base, bits - 96] : null
  return [base, bits]
}

/** ipaddr.js also reads hexadecimal and shortened IPv4, which people do not mean. */
function isPlainAddress(text: string): boolean {
  if (text.includes(':')) return ipaddr.IPv6.isValid(text)
  return ipaddr.IPv4.isValidFourPartDecimal(text) && !/(^|\.)0\d/.test(text)
}
