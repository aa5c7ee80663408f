import type { Settings } from '../../domain/settings/definitions.ts'
import { findLanguage } from './languages.ts'
import { type OldEnv, plainValue } from './old-env.ts'
import type { SourceKind } from './source-schema.ts'

/** What the old panel has as settings: rows of its table without their prefix, and its `.env`. */
export type OldSettings = {
  kind: SourceKind
  rows: Map<string, { id: number; text: string | null }>
  env: OldEnv
}

/** A value of the old panel: its id in the table, or 0, and what it is called there. */
export type OldValue = { id: number; text: string; name: string }

/** Where a setting of this panel is in the old one: in its table, and by names of its `.env`. */
type Place = { key?: string; env: string[] }

/** Settings that move together or not at all. A place without a value leaves its setting out. */
export type Group = {
  places: Partial<Record<keyof Settings, Place>>
  /** Maps what was found; a text says why the group is left out. */
  map: (found: Partial<Record<keyof Settings, OldValue>>) => Partial<Settings> | string
  /** A sentence about what has to be done elsewhere. */
  hint?: (values: Partial<Settings>, address: string) => string | null
}

/** Returns a value: that of the table, which Pelican does not read, before that of the `.env`. */
export function findOld({ kind, rows, env }: OldSettings, { key, env: names }: Place): OldValue | null {
  const isRead = kind === 'pterodactyl' && plainValue(env?.APP_ENVIRONMENT_ONLY) !== 'true'
  const mailer = plainValue(env?.MAIL_MAILER) ?? plainValue(env?.MAIL_DRIVER) ?? 'smtp'
  // Of the table it takes the sender for SMTP alone.
  const isUsed = isRead && (mailer === 'smtp' || !key?.startsWith('mail:'))
  const stored = key === undefined || !isUsed ? undefined : rows.get(key)
  if (stored) {
    const text = plainValue(stored.text)
    return text === null ? null : { id: stored.id, text, name: `settings::${key}` }
  }
  for (const name of names) {
    const text = plainValue(env?.[name])
    if (text !== null) return { id: 0, text, name }
  }
  return null
}

type Parse<Value> = (text: string) => Value | undefined

const asText: Parse<string> = (text) => text
const asBoolean: Parse<boolean> = (text) =>
  /^(?:true|1|yes|on)$/i.test(text) ? true : /^(?:false|0|no|off)$/i.test(text) ? false : undefined
const asInteger: Parse<number> = (text) => (/^\d{1,12}$/.test(text) ? Number(text) : undefined)

const oneOf =
  <Value>(values: Record<string, Value>): Parse<Value> =>
  (text) =>
    values[text.toLowerCase()]

/** A setting that moves alone. */
const single = <Key extends keyof Settings>(
  setting: Key,
  place: Place,
  parse: Parse<Settings[Key]>,
): Group => ({
  places: { [setting]: place },
  map: (found) => {
    const old = found[setting]
    if (!old) return {}
    const value = parse(old.text)
    return value === undefined ? `${old.name} has no value that ${setting} can have` : { [setting]: value }
  },
})

const exampleAddress = /@example\.(?:com|org|net)$/i

const senderAddress: Group = {
  places: { 'mail.from_address': { key: 'mail:from:address', env: ['MAIL_FROM_ADDRESS', 'MAIL_FROM'] } },
  map: ({ 'mail.from_address': old }) => {
    if (!old) return {}
    return exampleAddress.test(old.text)
      ? `${old.name} is the example that the old panel came with`
      : { 'mail.from_address': old.text }
  },
}

const partBytes: Parse<number> = (text) => {
  const bytes = asInteger(text)
  return bytes === undefined ? undefined : Math.min(5120, Math.max(5, Math.floor(bytes / 1024 ** 2)))
}

/** There a period of 0 lifts the limit, here a limit of 0. */
const backupThrottle: Group = {
  places: {
    'backups.throttle_limit': { env: ['BACKUP_THROTTLE_LIMIT'] },
    'backups.throttle_period': { env: ['BACKUP_THROTTLE_PERIOD'] },
  },
  map: (found) => {
    const [limit, period] = [found['backups.throttle_limit'], found['backups.throttle_period']]
    const [count, seconds] = [limit && asInteger(limit.text), period && asInteger(period.text)]
    if ((limit && count === undefined) || (period && seconds === undefined))
      return `${(limit ?? period)?.name} is no number`
    if (seconds === 0) return { 'backups.throttle_limit': 0 }
    return {
      ...(count !== undefined && { 'backups.throttle_limit': count }),
      ...(seconds !== undefined && { 'backups.throttle_period': seconds }),
    }
  },
}

/** Users get ports of a range, so the switch moves with it. */
const autoAllocation = (prefix: string): Group => {
  const place = (name: string): Place => ({
    key: `pterodactyl:client_features:allocations:${name}`,
    env: [`${prefix}_CLIENT_ALLOCATIONS_${name.toUpperCase()}`],
  })
  return {
    places: {
      'features.auto_allocation': place('enabled'),
      'auto_allocation.range_start': place('range_start'),
      'auto_allocation.range_end': place('range_end'),
    },
    map: mapAutoAllocation,
  }
}

const mapAutoAllocation: Group['map'] = (found) => {
  const [on, first, last] = [
    found['features.auto_allocation'],
    found['auto_allocation.range_start'],
    found['auto_allocation.range_end'],
  ]
  if (!on && !first && !last) return {}
  const isOn = on ? asBoolean(on.text) : false
  const [start, end] = [first && asInteger(first.text), last && asInteger(last.text)]
  if (isOn === undefined) return `${on?.name} is neither true nor false`
  if (start === undefined || end === undefined)
    return isOn ? 'ports that users allocate have no range there' : { 'features.auto_allocation': false }
  return {
    'features.auto_allocation': isOn,
    'auto_allocation.range_start': start,
    'auto_allocation.range_end': end,
  }
}

const featuresOf = (prefix: 'PTERODACTYL' | 'PANEL'): Group[] => [
  autoAllocation(prefix),
  single('databases.client_enabled', { env: [`${prefix}_CLIENT_DATABASES_ENABLED`] }, asBoolean),
  single('schedules.tasks_per_schedule', { env: [`${prefix}_PER_SCHEDULE_TASK_LIMIT`] }, asInteger),
  single('notifications.install', { env: [`${prefix}_SEND_INSTALL_NOTIFICATION`] }, asBoolean),
  single('notifications.reinstall', { env: [`${prefix}_SEND_REINSTALL_NOTIFICATION`] }, asBoolean),
]

const common: Group[] = [
  single('panel.name', { key: 'app:name', env: ['APP_NAME'] }, asText),
  single('panel.timezone', { env: ['APP_TIMEZONE'] }, asText),
  single(
    'panel.language',
    { key: 'app:locale', env: ['APP_LOCALE'] },
    (text) => (findLanguage(text) ?? undefined) as Settings['panel.language'] | undefined,
  ),
  senderAddress,
  single('mail.from_name', { key: 'mail:from:name', env: ['MAIL_FROM_NAME'] }, asText),
  single(
    'two_factor.required',
    { key: 'pterodactyl:auth:2fa_required', env: ['APP_2FA_REQUIRED'] },
    oneOf({ 0: 'nobody', 1: 'administrators', 2: 'everybody' }),
  ),
  backupThrottle,
  single('backups.link_minutes', { env: ['BACKUP_PRESIGNED_URL_LIFESPAN'] }, asInteger),
  single('backups.part_size_mib', { env: ['BACKUP_MAX_PART_SIZE'] }, partBytes),
  single('activity.retention_days', { env: ['APP_ACTIVITY_PRUNE_DAYS'] }, asInteger),
  single('activity.hide_admin_activity', { env: ['APP_ACTIVITY_HIDE_ADMIN'] }, asBoolean),
]

const turnstile: Group = {
  places: {
    'captcha.provider': { env: ['CAPTCHA_TURNSTILE_ENABLED'] },
    'captcha.site_key': { env: ['CAPTCHA_TURNSTILE_SITE_KEY'] },
    'captcha.secret': { env: ['CAPTCHA_TURNSTILE_SECRET_KEY'] },
  },
  map: (found) => {
    const [on, key, secret] = [found['captcha.provider'], found['captcha.site_key'], found['captcha.secret']]
    if (!on || asBoolean(on.text) !== true) return {}
    if (!key || !secret) return 'Turnstile lacks its site key or its secret there'
    return { 'captcha.provider': 'turnstile', 'captcha.site_key': key.text, 'captcha.secret': secret.text }
  },
}

const provider = (name: 'google' | 'github' | 'discord'): Group => {
  const prefix = `OAUTH_${name.toUpperCase()}`
  const [on, id, secret] = [
    `sign_in.${name}`,
    `sign_in.${name}_client_id`,
    `sign_in.${name}_client_secret`,
  ] as const
  return {
    places: {
      [on]: { env: [`${prefix}_ENABLED`] },
      [id]: { env: [`${prefix}_CLIENT_ID`] },
      [secret]: { env: [`${prefix}_CLIENT_SECRET`] },
    },
    map: (found) => {
      const [enabled, clientId, clientSecret] = [found[on], found[id], found[secret]]
      if (!clientId || !clientSecret)
        return enabled && asBoolean(enabled.text) ? `${prefix} lacks its credentials` : {}
      return {
        [on]: enabled ? asBoolean(enabled.text) === true : false,
        [id]: clientId.text,
        [secret]: clientSecret.text,
      }
    },
    hint: (values, address) =>
      values[on] === true
        ? `allow ${address}/auth/oauth/${name}/callback as a redirect address at ${name}`
        : null,
  }
}

/** The groups of settings that a panel can have. */
export const groupsOf = (kind: SourceKind): Group[] =>
  kind === 'pterodactyl'
    ? [
        ...common,
        ...featuresOf('PTERODACTYL'),
        single('backups.default_disk', { env: ['APP_BACKUP_DRIVER'] }, oneOf({ wings: 'wings', s3: 's3' })),
      ]
    : [
        ...common,
        ...featuresOf('PANEL'),
        turnstile,
        provider('google'),
        provider('github'),
        provider('discord'),
      ]

const ownMailServer = 'the mail server of this panel is SMTP_URL of its environment'

/** Why there is nothing for a setting here, by its key in the table or its name in the `.env`. */
const withoutCounterpart: [pattern: RegExp, reason: string][] = [
  [/^mail:(?:host|port|encryption|username|password|driver)$/, 'the old panel reads it no more'],
  [/^mail:mailers:/, ownMailServer],
  [/^MAIL_(?:HOST|PORT|USERNAME|PASSWORD|ENCRYPTION|SCHEME)$/, ownMailServer],
  [/^(?:pterodactyl:guzzle:|GUZZLE_)/, 'this panel has time limits of its own for daemons'],
  [/^pterodactyl:console:/, 'this panel shows the console as it comes'],
  [
    /^(?:recaptcha:(?:secret|website)_key|RECAPTCHA_(?:SECRET|WEBSITE)_KEY)$/,
    'its keys are of the invisible reCAPTCHA, and this panel shows the box: make keys for that and set captcha.provider',
  ],
  [
    /^OAUTH_(?!GOOGLE|GITHUB|DISCORD)\w+_ENABLED$/,
    'this panel signs in with that provider by OpenID Connect: set sign_in.oidc',
  ],
]

/** Lists what is set there and has nothing here, with the reason. */
export function leftSettings(old: OldSettings): { id: number; reason: string }[] {
  const read = groupsOf(old.kind).flatMap(({ places }) => Object.values(places))
  const readKeys = new Set(read.map(({ key }) => key))
  const readNames = new Set(read.flatMap(({ env }) => env))
  const hasCaptcha =
    asBoolean(findOld(old, { key: 'recaptcha:enabled', env: ['RECAPTCHA_ENABLED'] })?.text ?? 'true') === true
  const reasonOf = (name: string) => withoutCounterpart.find(([pattern]) => pattern.test(name))?.[1]
  const isSaid = (name: string, text: string | null) =>
    plainValue(text) !== null && (hasCaptcha || !/recaptcha/i.test(name))
  const rows = [...(old.kind === 'pterodactyl' ? old.rows : [])].flatMap(([key, { id, text }]) =>
    readKeys.has(key) || key === 'recaptcha:enabled' || !isSaid(key, text)
      ? []
      : [{ id, reason: `settings::${key}: ${reasonOf(key) ?? 'this panel has no such setting'}` }],
  )
  const variables = Object.entries(old.env ?? {}).flatMap(([name, text]) => {
    const reason = reasonOf(name)
    const isOff = name.endsWith('_ENABLED') && asBoolean(plainValue(text) ?? '') !== true
    return reason === undefined || readNames.has(name) || isOff || !isSaid(name, text)
      ? []
      : [{ id: 0, reason: `${name}: ${reason}` }]
  })
  return [...rows, ...variables]
}
