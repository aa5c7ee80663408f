import * as z from 'zod'
import { canonicalAddress } from '../addresses.ts'

const label = '[a-z\\d_](?:[a-z\\d_-]{0,61}[a-z\\d_])?'
const namePattern = new RegExp(`^${label}(?:\\.${label})*$`, 'i')
const longest = 253

/**
 * The host as it stands in a URL: a name as it is, an address in its canonical form, IPv6 in brackets.
 * Null when the text is neither.
 */
export function hostOf(text: string): string | null {
  // What ends in a number is an address to every reader of URLs.
  if (text.length <= longest && namePattern.test(text) && !/(?:^|\.)\d+$/.test(text)) return text
  const address = canonicalAddress(text)
  return address?.includes(':') ? `[${address}]` : address
}

const isHost = (text: string) => hostOf(text) !== null

/** A host name or an address, in the form in which it stands in a URL; the rule is called `p_fqdn`. */
export const urlHost = () =>
  z
    .string()
    .refine(isHost, 'p_fqdn')
    .transform((text) => hostOf(text) ?? text)

/** A host name or an address of at most 253 characters, kept as it was written; the rule is called `regex`. */
export const writtenHost = () => z.string().max(longest, 'max').refine(isHost, 'regex')
