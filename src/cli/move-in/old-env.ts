import { parseEnv } from 'node:util'

/** Values of the old panel's `.env` by name; null where no file was given. */
export type OldEnv = Record<string, string> | null

/** Names that say something about settings, passkeys and ids. Credentials of its database and cache are not read. */
const readNames =
  /^(?:APP_(?:NAME|URL|LOCALE|TIMEZONE|2FA_REQUIRED|BACKUP_DRIVER|ACTIVITY_\w+|ENVIRONMENT_ONLY)|(?:MAIL|RECAPTCHA|CAPTCHA|OAUTH|PTERODACTYL|PANEL|BACKUP|GUZZLE|HASHIDS)_\w+)$/

/** What a `.env` says: the keys, the time zone, and what is known by name. */
export function readOldEnv(text: string): {
  key: string | undefined
  previousKeys: string | undefined
  timezone: string | undefined
  env: Record<string, string>
} {
  const all = parseEnv(text)
  // One level, as in MAIL_FROM_NAME="${APP_NAME}".
  const expanded = Object.entries(all).map(
    ([name, value = '']) =>
      [name, value.replaceAll(/\$\{(\w+)\}/g, (_, other: string) => all[other] ?? '')] as const,
  )
  return {
    key: all.APP_KEY,
    previousKeys: all.APP_PREVIOUS_KEYS,
    timezone: all.APP_TIMEZONE,
    env: Object.fromEntries(expanded.filter(([name]) => readNames.test(name))),
  }
}

/** Returns a value as Laravel reads it: null for what stands for none, in words or blank. */
export function plainValue(text: string | null | undefined): string | null {
  const value = (text ?? '').trim()
  const [, word = value] = /^\((true|false|empty|null)\)$/i.exec(value) ?? []
  if (/^(?:empty|null)$/i.test(word) || word === '') return null
  return /^(?:true|false)$/i.test(word) ? word.toLowerCase() : value
}
