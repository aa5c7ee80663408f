import * as z from 'zod'
import { canonicalAddress } from '../ip-addresses.ts'

const labelPattern = '[a-z\\d_](?:[a-z\\d_-]{0,61}[a-z\\d_])?'
const namePattern = new RegExp(`^${labelPattern}(?:\\.${labelPattern})*$`, 'i')
const maxHostLength = 253

/**
 * Returns a host as it is written in a URL: a name unchanged, an address in canonical form, IPv6 in
 * brackets. Returns null for anything else.
 */
export function normalizeHost(text: string): string | null {
  // URL parsers treat a host that ends in a number as an IPv4 address.
  if (text.length <= maxHostLength && namePattern.test(text) && !/(?:^|\.)\d+$/.test(text)) return text
  const address = canonicalAddress(text)
  return address?.includes(':') ? `[${address}]` : address
}

const isHost = (text: string) => normalizeHost(text) !== null

/** A host name or address, converted to its form in a URL; the rule is named `p_fqdn`. */
export const urlHostField = () =>
  z
    .string()
    .refine(isHost, 'p_fqdn')
    .transform((text) => normalizeHost(text) ?? text)

/** A host name or address of at most 253 characters, unchanged; the rule is named `regex`. */
export const hostField = () => z.string().max(maxHostLength, 'max').refine(isHost, 'regex')
