import * as z from 'zod'
import type { Mailbox } from '../adapters/mail.ts'

/** An address; refused as one line, whatever is wrong with it. */
export const url = () => z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
/** Scheme, host and port of an address behind which nothing else stands. */
export const origin = () =>
  url()
    .refine(
      (value) => !URL.canParse(value) || new URL(value).href === `${new URL(value).origin}/`,
      'must end with its host or port',
    )
    .transform((value) => new URL(value).origin)
/** Whether something is switched on. */
export const flag = () =>
  z.enum(['true', 'false', '1', '0']).transform((value) => value === 'true' || value === '1')
/** `Name <address>`, or an address alone. */
export const mailbox = () =>
  z
    .string()
    .regex(/^(?:[^\p{Cc}<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u, 'must be Name <address>')
    .transform((text): Mailbox => {
      const [name = '', address = ''] = text.includes('<') ? text.split(/[<>]/) : ['', text]
      return { name: name.trim().replace(/^"(.*)"$/, '$1'), address }
    })
/** A whole number, at least 1. */
export const count = () => z.coerce.number().int().min(1)
/** What is copied from a console: neither quotes nor the end of the line belong to it. */
export const credential = () => z.string().regex(/^[^\s"']+$/, 'must not contain blanks or quotes')
/** As `importKeyRing` reads them. */
export const keyRing = () =>
  z.string().refine((text) => {
    const ids = text.split(',').map((entry) => /^\s*(\w+):[\w+/-]{43}=?\s*$/.exec(entry)?.[1])
    return !ids.includes(undefined) && new Set(ids).size === ids.length
  }, 'must be <id>:<32 bytes in base64>, several joined by commas, each with an id of its own')
/** A time zone that this platform knows by its name. */
export const timeZone = () =>
  z.string().refine((name) => {
    try {
      Intl.DateTimeFormat('en', { timeZone: name })
      return true
    } catch {
      return false
    }
  }, 'is no known time zone')
