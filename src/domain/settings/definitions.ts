import * as z from 'zod'
import type { Failure, Reason } from '../../errors.ts'
import { boolean, email, integer, strictObject } from '../fields.ts'
import { languages } from '../languages.ts'
import { isTimezone } from '../timezones.ts'

/** A setting: its type, its default and what it is for. */
export type SettingDefinition<Value> = {
  schema: () => z.ZodType<Value>
  /** Applies while no value is stored. */
  defaultValue: Value
  /** Stored encrypted and never returned. */
  isSecret: boolean
  description: string
}

const booleanSetting = (defaultValue: boolean, description: string): SettingDefinition<boolean> => ({
  schema: boolean,
  defaultValue,
  isSecret: false,
  description,
})

const integerSetting = (
  defaultValue: number,
  minimum: number,
  maximum: number,
  description: string,
): SettingDefinition<number> => ({
  schema: () => integer(minimum, maximum),
  defaultValue,
  isSecret: false,
  description,
})

const enumSetting = <const Values extends readonly [string, ...string[]]>(
  defaultValue: Values[number],
  values: Values,
  description: string,
): SettingDefinition<Values[number]> => ({
  schema: () => z.enum(values),
  defaultValue,
  isSecret: false,
  description,
})

/** A setting without a value until an administrator sets one. */
const optionalSetting = <Value>(
  schema: () => z.ZodType<Value>,
  description: string,
): SettingDefinition<Value | null> => ({
  schema,
  defaultValue: null,
  isSecret: false,
  description,
})

const secretSetting = (description: string): SettingDefinition<string | null> => ({
  ...optionalSetting(oneLine(1024), description),
  isSecret: true,
})

/** Text for a header: no control characters. */
const oneLine = (maximum: number) => () =>
  z
    .string()
    .max(maximum, 'max')
    .regex(/^\P{Cc}*$/u, 'regex')

const httpsUrl = () =>
  z
    .url({ error: 'url', abort: true })
    .max(2048, 'max')
    .regex(/^[hH][tT]{2}[pP][sS]:\/\//, 'https')
const port = () => integer(1024, 65_535)

const origin = () =>
  z
    .url({ protocol: /^https?$/, error: 'url', abort: true })
    .max(255, 'max')
    .refine((address) => new URL(address).origin === address, 'origin')

/** Region → origin; each origin once. */
const regions = () =>
  z
    .record(z.string().regex(/^[a-z0-9-]{1,32}$/), origin(), {
      error: ({ code }) => (code === 'invalid_key' ? 'regex' : undefined),
    })
    .refine((origins) => Object.keys(origins).length <= 100, 'max')
    .refine((origins) => new Set(Object.values(origins)).size === Object.keys(origins).length, 'distinct')

const timezone = () => z.string().max(64, 'max').refine(isTimezone, 'timezone')

/** Names that the panel gives to logos: the hash of their content. */
const logoName = () => z.string().regex(/^[0-9a-f]{32}\.(?:jpg|png|webp)$/, 'regex')

const hexColour = () =>
  z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'regex')
    .transform((colour) => colour.toLowerCase())

const maxFooterLinks = 6
const footerLinks = () =>
  z
    .array(strictObject({ label: oneLine(40)().min(1, 'required'), url: httpsUrl() }))
    .max(maxFooterLinks, 'max')

/** Every setting by its key, `group.name`. */
export const settingDefinitions = {
  'panel.name': optionalSetting(
    oneLine(60),
    'Name of the panel in pages, mails and authenticator apps; APP_NAME by default.',
  ),
  'panel.timezone': optionalSetting(
    timezone,
    'Time zone of schedules that name none; APP_TIMEZONE by default.',
  ),
  'panel.language': enumSetting('en', languages, 'Language of accounts that are created without one.'),

  'appearance.accent': optionalSetting(
    hexColour,
    'Accent colour as #rrggbb. Each theme uses it darkened or lightened as far as texts need to be readable.',
  ),
  'appearance.logo_light': optionalSetting(
    logoName,
    'Logo on light backgrounds: a PNG, JPEG or WebP of at most 256 KiB.',
  ),
  'appearance.logo_dark': optionalSetting(
    logoName,
    'Logo on dark backgrounds; that for light ones when it is empty.',
  ),
  'appearance.footer_links': {
    schema: footerLinks,
    defaultValue: [],
    isSecret: false,
    description: 'Links at the foot of every page, such as imprint and terms: label and https address.',
  },

  'features.file_trash': booleanSetting(true, 'Deleted files of servers can be moved to a trash.'),
  'features.console_share': booleanSetting(false, 'Users can share console logs; needs console_share.url.'),
  'features.avatars': booleanSetting(true, 'Users can upload a profile picture.'),
  'features.privacy_mode': booleanSetting(true, 'Users can blur sensitive data on their screens.'),
  'features.auto_allocation': booleanSetting(false, 'Users can add allocations to their own servers.'),

  'auto_allocation.range_start': optionalSetting(port, 'Lowest port that users can allocate.'),
  'auto_allocation.range_end': optionalSetting(port, 'Highest port that users can allocate.'),

  'trash.retention_days': integerSetting(7, 1, 365, 'Days after which files in the trash are deleted.'),

  'console_share.url': optionalSetting(
    httpsUrl,
    'Address of the service to which shared console logs are uploaded.',
  ),

  'backups.default_disk': enumSetting(
    'wings',
    ['wings', 's3'],
    'Where new backups are stored: on the node or in the object store.',
  ),
  'backups.throttle_limit': integerSetting(
    2,
    0,
    1000,
    'Backups per server within backups.throttle_period; 0 means no limit.',
  ),
  'backups.throttle_period': integerSetting(
    600,
    1,
    86_400,
    'Seconds over which backups.throttle_limit counts.',
  ),
  'backups.part_size_mib': integerSetting(
    512,
    5,
    5120,
    'Size in MiB of the parts of an upload to the object store; larger for archives of more than 5000 parts.',
  ),
  'backups.link_minutes': integerSetting(
    60,
    1,
    10_080,
    'Minutes for which a node can upload an archive to the object store.',
  ),

  'schedules.tasks_per_schedule': integerSetting(10, 1, 100, 'Maximum number of tasks per schedule.'),

  'databases.client_enabled': booleanSetting(true, 'Users can create databases for their own servers.'),

  'sign_in.password': booleanSetting(true, 'Users can sign in with a password.'),
  'sign_in.passkeys': booleanSetting(true, 'Users can sign in with a passkey.'),
  'sign_in.registration': booleanSetting(false, 'Visitors can register an account.'),
  'sign_in.verify_email': enumSetting(
    'auto',
    ['auto', 'on', 'off'],
    'Addresses that users give themselves wait for a mailed link; auto: where MAIL_DRIVER sends mail.',
  ),
  'sign_in.google': booleanSetting(false, 'Users can sign in with Google; needs a client ID and secret.'),
  'sign_in.google_client_id': optionalSetting(oneLine(255), 'Client ID at Google.'),
  'sign_in.google_client_secret': secretSetting('Client secret at Google.'),
  'sign_in.github': booleanSetting(false, 'Users can sign in with GitHub; needs a client ID and secret.'),
  'sign_in.github_client_id': optionalSetting(oneLine(255), 'Client ID at GitHub.'),
  'sign_in.github_client_secret': secretSetting('Client secret at GitHub.'),
  'sign_in.discord': booleanSetting(false, 'Users can sign in with Discord; needs a client ID and secret.'),
  'sign_in.discord_client_id': optionalSetting(oneLine(255), 'Client ID at Discord.'),
  'sign_in.discord_client_secret': secretSetting('Client secret at Discord.'),
  'sign_in.oidc': booleanSetting(
    false,
    'Users can sign in with OpenID Connect; needs an issuer, a client ID and a secret.',
  ),
  'sign_in.oidc_name': optionalSetting(
    oneLine(64),
    'Name of the OpenID Connect provider on the sign-in page.',
  ),
  'sign_in.oidc_issuer': optionalSetting(httpsUrl, 'Issuer URL of the OpenID Connect provider.'),
  'sign_in.oidc_client_id': optionalSetting(oneLine(255), 'Client ID at the OpenID Connect provider.'),
  'sign_in.oidc_client_secret': secretSetting('Client secret at the OpenID Connect provider.'),

  'regions.endpoints': {
    schema: regions,
    defaultValue: {},
    isSecret: false,
    description: 'For each region, the origin of the panel that its daemons call.',
  },

  'two_factor.required': enumSetting(
    'nobody',
    ['nobody', 'administrators', 'everybody'],
    'Accounts that must use two-factor authentication.',
  ),

  'captcha.provider': enumSetting(
    'none',
    ['none', 'turnstile', 'hcaptcha', 'recaptcha'],
    'Captcha on sign-in, registration and password reset; needs captcha.site_key and captcha.secret.',
  ),
  'captcha.site_key': optionalSetting(oneLine(255), 'Site key of the captcha.'),
  'captcha.secret': secretSetting('Secret key of the captcha.'),

  'mail.from_name': optionalSetting(oneLine(100), 'Sender name of e-mails.'),
  'mail.from_address': optionalSetting(email, 'Sender address of e-mails.'),

  'notifications.account_created': booleanSetting(
    true,
    'Accounts that are created without a password get an e-mail with a link to choose one.',
  ),
  'notifications.install': booleanSetting(true, 'Owners get an e-mail when their server is installed.'),
  'notifications.reinstall': booleanSetting(true, 'Owners get an e-mail when their server is reinstalled.'),

  'metrics.history': booleanSetting(
    true,
    'Usage of nodes and servers is stored, as their charts show it. Without it only the present state is known.',
  ),
  'metrics.retention_days': integerSetting(30, 1, 365, 'Days after which stored usage is deleted.'),
  'metrics.server_minutes': integerSetting(
    5,
    1,
    60,
    'Minutes between two stored samples of a server; nodes have one each minute.',
  ),

  'activity.retention_days': integerSetting(
    90,
    1,
    3650,
    'Days after which entries of the activity log are deleted.',
  ),
  'activity.hide_admin_activity': booleanSetting(
    false,
    'The activity log of a server hides actions of administrators who are neither its owner nor a subuser.',
  ),
} satisfies Record<`${string}.${string}`, SettingDefinition<unknown>>

export type SettingKey = keyof typeof settingDefinitions
export type Settings = {
  [Key in SettingKey]: (typeof settingDefinitions)[Key] extends SettingDefinition<infer Value> ? Value : never
}

/** All keys, in the order in which they are shown. */
export const settingKeys = Object.keys(settingDefinitions) as SettingKey[]

/** Returns the definition of a setting with any type of value. */
export const definitionOf = (key: SettingKey): SettingDefinition<unknown> => settingDefinitions[key]

/** Groups values as `group → name → value`, the shape of settings in the API. */
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

type SettingRule = Failure & {
  field: SettingKey
  reason: Reason
  isSatisfied: (settings: Settings) => boolean
}

const requiredWhen = (
  field: SettingKey,
  reason: Reason,
  detail: string,
  isOn: (settings: Settings) => boolean,
): SettingRule => ({
  field,
  rule: 'required_if',
  detail,
  reason,
  isSatisfied: (settings) => !isOn(settings) || settings[field] !== null,
})

const providerRules = (name: 'google' | 'github' | 'discord' | 'oidc'): SettingRule[] =>
  (['client_id', 'client_secret'] as const).map((credential) =>
    requiredWhen(
      `sign_in.${name}_${credential}`,
      credential === 'client_id' ? 'client_id_required' : 'client_secret_required',
      `Signing in with ${name} needs a ${credential === 'client_id' ? 'client ID' : 'client secret'}.`,
      (settings) => settings[`sign_in.${name}`],
    ),
  )

const isBefore = (start: number | null, end: number | null) => start === null || end === null || start <= end

/** Rules that span several settings, checked on every change. */
export const settingRules: SettingRule[] = [
  requiredWhen(
    'console_share.url',
    'share_service_required',
    'Sharing console logs needs the address of a service.',
    (settings) => Boolean(settings['features.console_share']),
  ),
  requiredWhen(
    'auto_allocation.range_start',
    'port_range_incomplete',
    'A port range needs a start and an end.',
    (settings) => settings['auto_allocation.range_end'] !== null,
  ),
  requiredWhen(
    'auto_allocation.range_end',
    'port_range_incomplete',
    'A port range needs a start and an end.',
    (settings) => settings['auto_allocation.range_start'] !== null,
  ),
  {
    field: 'auto_allocation.range_end',
    rule: 'gte',
    detail: 'The port range must not end before it starts.',
    reason: 'port_range_reversed',
    isSatisfied: (settings) =>
      isBefore(settings['auto_allocation.range_start'], settings['auto_allocation.range_end']),
  },
  ...(['google', 'github', 'discord', 'oidc'] as const).flatMap(providerRules),
  requiredWhen(
    'sign_in.oidc_issuer',
    'issuer_required',
    'Signing in with OpenID Connect needs an issuer.',
    (settings) => settings['sign_in.oidc'],
  ),
  ...(['captcha.site_key', 'captcha.secret'] as const).map((field) =>
    requiredWhen(
      field,
      'captcha_keys_required',
      'A captcha needs a site key and a secret.',
      (settings) => settings['captcha.provider'] !== 'none',
    ),
  ),
  {
    field: 'sign_in.password',
    rule: 'accepted',
    detail: 'At least one sign-in method must stay enabled.',
    reason: 'sign_in_method_required',
    isSatisfied: (settings) =>
      (['password', 'passkeys', 'google', 'github', 'discord', 'oidc'] as const).some(
        (name) => settings[`sign_in.${name}`],
      ),
  },
]
