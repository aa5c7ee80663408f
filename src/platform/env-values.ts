import * as z from 'zod'
import type { Mailbox } from '../adapters/mail.ts'
import { parseRedisAddress, redisFormats } from '../adapters/redis-address.ts'
import { isAddressRange } from '../ip-addresses.ts'

/** An HTTP URL; one error message for whatever is wrong with it. */
export const url = () => z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
/** The origin of a URL without a path. */
export const origin = () =>
  url()
    .refine(
      (value) => !URL.canParse(value) || new URL(value).href === `${new URL(value).origin}/`,
      'must end with its host or port',
    )
    .transform((value) => new URL(value).origin)
/** A boolean. */
export const flag = () =>
  z.enum(['true', 'false', '1', '0']).transform((value) => value === 'true' || value === '1')
/** `Name <address>`, or an address. */
export const mailbox = () =>
  z
    .string()
    .regex(/^(?:[^\p{Cc}<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u, 'must be Name <address>')
    .transform((text): Mailbox => {
      const [name = '', address = ''] = text.includes('<') ? text.split(/[<>]/) : ['', text]
      return { name: name.trim().replace(/^"(.*)"$/, '$1'), address }
    })
/** A whole number, at least 1. */
export const positiveInteger = () => z.coerce.number().int().min(1)
/** A token or key as providers show it; quotes and line breaks come from careless copying. */
export const credential = () => z.string().regex(/^[^\s"']+$/, 'must not contain spaces or quotes')
/** The address of a Redis, parsed. */
export const redisUrl = () =>
  z.string().transform((text, context) => {
    const address = parseRedisAddress(text)
    if (address) return address
    context.addIssue(`must be ${redisFormats}`)
    return z.NEVER
  })
/** Addresses or CIDR ranges, separated by commas; with `none`, that word is an empty list. */
export const networks = ({ none = false } = {}) =>
  z
    .string()
    .transform((text) => (none && text === 'none' ? [] : text.split(',').map((range) => range.trim())))
    .refine((ranges) => ranges.every(isAddressRange), 'must be addresses or CIDR ranges, separated by commas')
/** Keys as `importKeyRing` reads them. */
export const keyRing = () =>
  z.string().refine((text) => {
    const ids = text.split(',').map((entry) => /^\s*(\w+):[\w+/-]{43}=?\s*$/.exec(entry)?.[1])
    return !ids.includes(undefined) && new Set(ids).size === ids.length
  }, 'must be <id>:<32 bytes in base64>, several separated by commas, with different ids')
/** The name of a time zone that this platform knows. */
export const timeZone = () =>
  z.string().refine((name) => {
    try {
      Intl.DateTimeFormat('en', { timeZone: name })
      return true
    } catch {
      return false
    }
  }, 'is not a known time zone')
/** Pairs as OpenTelemetry reads them. */
export const keyValues = () =>
  z
    .string()
    .regex(/^[^\s=,]+=[^,]*(?:,\s*[^\s=,]+=[^,]*)*,?$/, 'must be name=value, several separated by commas')
