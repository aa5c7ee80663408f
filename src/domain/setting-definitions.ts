import * as z from 'zod'
import { boolean, email, integer } from './fields.ts'

/** One thing an administrator can set: what it takes, what holds until he does, and what it is for. */
export type SettingDefinition<Value> = {
  schema: () => z.ZodType<Value>
  /** Holds while nothing is stored. */
  fallback: Value
  /** Stored sealed and shown to nobody. */
  isSecret: boolean
  description: string
}

const flag = (fallback: boolean, description: string): SettingDefinition<boolean> => ({
  schema: boolean,
  fallback,
  isSecret: false,
  description,
})

const count = (
  fallback: number,
  minimum: number,
  maximum: number,
  description: string,
): SettingDefinition<number> => ({
  schema: () => integer(minimum, maximum),
  fallback,
  isSecret: false,
  description,
})

const choice = <const Values extends readonly [string, ...string[]]>(
  fallback: Values[number],
  values: Values,
  description: string,
): SettingDefinition<Values[number]> => ({
  schema: () => z.enum(values),
  fallback,
  isSecret: false,
  description,
})

/** Unset until an administrator gives a value. */
const unset = <Value>(
  schema: () => z.ZodType<Value>,
  description: string,
): SettingDefinition<Value | null> => ({
  schema,
  fallback: null,
  isSecret: false,
  description,
})

const secret = (description: string): SettingDefinition<string | null> => ({
  ...unset(oneLine(1024), description),
  isSecret: true,
})

/** Text that may stand in a header: no control characters. */
const oneLine = (maximum: number) => () =>
  z
    .string()
    .max(maximum, 'max')
    .regex(/^\P{Cc}*$/u, 'regex')

const httpsAddress = () =>
  z
    .url({ error: 'url', abort: true })
    .max(2048, 'max')
    .regex(/^https:\/\//i, 'https')
const port = () => integer(1024, 65_535)

const origin = () =>
  z
    .url({ protocol: /^https?$/, error: 'url', abort: true })
    .max(255, 'max')
    .refine((address) => new URL(address).origin === address, 'origin')

/** Name → origin; no two have the same one. */
const regions = () =>
  z
    .record(z.string().regex(/^[a-z0-9-]{1,32}$/), origin(), {
      error: ({ code }) => (code === 'invalid_key' ? 'regex' : undefined),
    })
    .refine((origins) => Object.keys(origins).length <= 100, 'max')
    .refine((origins) => new Set(Object.values(origins)).size === Object.keys(origins).length, 'distinct')

/** Every setting by its dotted key: `group.name`. */
export const settingDefinitions = {
  'features.file_trash': flag(true, 'Files of servers can be moved to a trash.'),
  'features.console_share': flag(false, 'Console logs can be shared; needs console_share.url.'),
  'features.avatars': flag(true, 'People can choose a picture of their own.'),
  'features.privacy_mode': flag(true, 'People can have sensitive data blurred.'),
  'features.auto_allocation': flag(false, 'People can add allocations to their servers themselves.'),

  'auto_allocation.range_start': unset(port, 'Lowest port that automatic allocation may create.'),
  'auto_allocation.range_end': unset(port, 'Highest port that automatic allocation may create.'),

  'trash.retention_days': count(7, 1, 365, 'Days after which files in the trash are removed.'),

  'console_share.url': unset(httpsAddress, 'Service that takes shared console logs.'),

  'backups.default_disk': choice('wings', ['wings', 's3'], 'Where new backups are kept.'),
  'backups.throttle_limit': count(2, 0, 1000, 'Backups of one server in the period; 0 is no limit.'),
  'backups.throttle_period': count(600, 1, 86_400, 'Length of that period in seconds.'),
  'backups.part_size_mib': count(
    512,
    5,
    5120,
    'MiB of a part in the object store; archives above 5000 of them have larger ones.',
  ),
  'backups.link_minutes': count(
    60,
    1,
    10_080,
    'Minutes for which a node may send an archive to the object store.',
  ),

  'schedules.tasks_per_schedule': count(10, 1, 100, 'Tasks that one schedule may hold.'),

  'databases.client_enabled': flag(true, 'People can add databases to their servers themselves.'),

  'sign_in.password': flag(true, 'Signing in with a password.'),
  'sign_in.passkeys': flag(true, 'Signing in with a passkey.'),
  'sign_in.registration': flag(false, 'Strangers can make an account.'),
  'sign_in.google': flag(false, 'Signing in with Google; needs client id and secret.'),
  'sign_in.google_client_id': unset(oneLine(255), 'Client id at Google.'),
  'sign_in.google_client_secret': secret('Client secret at Google.'),
  'sign_in.github': flag(false, 'Signing in with GitHub; needs client id and secret.'),
  'sign_in.github_client_id': unset(oneLine(255), 'Client id at GitHub.'),
  'sign_in.github_client_secret': secret('Client secret at GitHub.'),
  'sign_in.discord': flag(false, 'Signing in with Discord; needs client id and secret.'),
  'sign_in.discord_client_id': unset(oneLine(255), 'Client id at Discord.'),
  'sign_in.discord_client_secret': secret('Client secret at Discord.'),
  'sign_in.oidc': flag(false, 'Signing in with OpenID Connect; needs issuer, client id and secret.'),
  'sign_in.oidc_name': unset(oneLine(64), 'What the button of the OpenID Connect provider says.'),
  'sign_in.oidc_issuer': unset(httpsAddress, 'Issuer of the OpenID Connect provider.'),
  'sign_in.oidc_client_id': unset(oneLine(255), 'Client id at the OpenID Connect provider.'),
  'sign_in.oidc_client_secret': secret('Client secret at the OpenID Connect provider.'),

  'regions.endpoints': {
    schema: regions,
    fallback: {},
    isSecret: false,
    description: 'For each region of a location the origin which its daemons call.',
  },

  'two_factor.required': choice(
    'nobody',
    ['nobody', 'administrators', 'everybody'],
    'Who must have two-factor authentication.',
  ),

  'captcha.provider': choice(
    'none',
    ['none', 'turnstile', 'hcaptcha', 'recaptcha'],
    'Who tells people from programs at sign-in; needs key and secret unless it is none.',
  ),
  'captcha.site_key': unset(oneLine(255), 'Public key of the captcha.'),
  'captcha.secret': secret('Secret of the captcha.'),

  'mail.from_name': unset(oneLine(100), 'Name of the sender of mails.'),
  'mail.from_address': unset(email, 'Address of the sender of mails.'),

  'notifications.install': flag(true, 'Owners get a mail when their server is installed.'),
  'notifications.reinstall': flag(true, 'Owners get a mail when their server is installed again.'),

  'activity.retention_days': count(90, 1, 3650, 'Days for which the audit log is kept.'),
  'activity.hide_admin_activity': flag(false, 'Feeds of servers leave out what administrators did.'),
} satisfies Record<`${string}.${string}`, SettingDefinition<unknown>>

export type SettingKey = keyof typeof settingDefinitions
export type Settings = {
  [Key in SettingKey]: (typeof settingDefinitions)[Key] extends SettingDefinition<infer Value> ? Value : never
}

/** The keys of all settings, in the order in which they are shown. */
export const settingKeys = Object.keys(settingDefinitions) as SettingKey[]

/** What is known of a setting, whatever the type of its value. */
export const definitionOf = (key: SettingKey): SettingDefinition<unknown> => settingDefinitions[key]

/** `group → name → value`, the shape in which settings travel. */
export function groupSettings<Value>(
  valueOf: (key: SettingKey) => Value,
): Record<string, Record<string, Value>> {
  const groups: Record<string, Record<string, Value>> = {}
  for (const key of settingKeys) {
    const [group = '', name = ''] = key.split('.')
    groups[group] = { ...groups[group], [name]: valueOf(key) }
  }
  return groups
}

type Required = { field: SettingKey; rule: string; detail: string; holds: (settings: Settings) => boolean }

const needs = (field: SettingKey, detail: string, isOn: (settings: Settings) => boolean): Required => ({
  field,
  rule: 'required_if',
  detail,
  holds: (settings) => !isOn(settings) || settings[field] !== null,
})

const provider = (name: 'google' | 'github' | 'discord' | 'oidc'): Required[] =>
  (['client_id', 'client_secret'] as const).map((part) =>
    needs(
      `sign_in.${name}_${part}`,
      `Signing in with ${name} needs its ${part.replace('_', ' ')}.`,
      (settings) => settings[`sign_in.${name}`],
    ),
  )

const isBefore = (start: number | null, end: number | null) => start === null || end === null || start <= end

/** What must hold between settings, whichever of them is changed. */
export const settingRules: Required[] = [
  needs('console_share.url', 'Sharing console logs needs an address to send them to.', (settings) =>
    Boolean(settings['features.console_share']),
  ),
  needs(
    'auto_allocation.range_start',
    'A range needs both of its ends.',
    (settings) => settings['auto_allocation.range_end'] !== null,
  ),
  needs(
    'auto_allocation.range_end',
    'A range needs both of its ends.',
    (settings) => settings['auto_allocation.range_start'] !== null,
  ),
  {
    field: 'auto_allocation.range_end',
    rule: 'gte',
    detail: 'The range ends before it starts.',
    holds: (settings) =>
      isBefore(settings['auto_allocation.range_start'], settings['auto_allocation.range_end']),
  },
  ...(['google', 'github', 'discord', 'oidc'] as const).flatMap(provider),
  needs(
    'sign_in.oidc_issuer',
    'Signing in with oidc needs its issuer.',
    (settings) => settings['sign_in.oidc'],
  ),
  ...(['captcha.site_key', 'captcha.secret'] as const).map((field) =>
    needs(
      field,
      'This captcha needs a key and a secret.',
      (settings) => settings['captcha.provider'] !== 'none',
    ),
  ),
  {
    field: 'sign_in.password',
    rule: 'accepted',
    detail: 'One way of signing in must stay open.',
    holds: (settings) =>
      (['password', 'passkeys', 'google', 'github', 'discord', 'oidc'] as const).some(
        (name) => settings[`sign_in.${name}`],
      ),
  },
]
