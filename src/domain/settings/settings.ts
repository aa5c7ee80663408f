import { eq, inArray, sql, type SQL } from 'drizzle-orm'
import * as z from 'zod'
import { jsonColumn } from '../../db/json.ts'
import { logos, settingChanges, settings, users } from '../../db/schema.ts'
import { invalid } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { strictObject } from '../fields.ts'
import { applyRegionChanges } from '../locations/regions.ts'
import { decrypt, encrypt, type SecretLocation } from '../secrets.ts'
import {
  definitionOf,
  groupSettings,
  type SettingKey,
  settingKeys,
  settingRules,
  type Settings,
} from './definitions.ts'
import { requireExpectedVersion } from '../versions.ts'

/** Settings by group and name; of a secret only whether it is set. */
export type PublicSettings = Record<string, Record<string, unknown>>

/** Who changed a setting last, and when; null for the command line, and for users who were deleted. */
export type SettingChange = {
  key: SettingKey
  changedAt: Date
  changedBy: { id: number; username: string } | null
}
/** The version differs after each change of a setting. */
export type SettingsWithChanges = { settings: PublicSettings; version: string; changes: SettingChange[] }

/** Changes by group and name, all optional; null restores the default. */
export const SettingsChanges = () =>
  strictObject(
    Object.fromEntries(
      Object.entries(groupSettings((key) => changeSchema(key))).map(([group, members]) => [
        group,
        strictObject(members).nullish(),
      ]),
    ),
  )
type SettingsChanges = Record<string, unknown>

const changeSchema = (key: SettingKey) => {
  const { schema, description } = definitionOf(key)
  return schema().nullish().describe(description)
}

/** Schema of `PublicSettings`. */
export const PublicSettingsSchema = () =>
  z.object(
    Object.fromEntries(
      Object.entries(groupSettings((key) => publicSchema(key))).map(([group, members]) => [
        group,
        z.object(members),
      ]),
    ),
  )

const publicSchema = (key: SettingKey) => {
  const { schema, defaultValue, isSecret, description } = definitionOf(key)
  const publicValue = isSecret ? z.boolean() : defaultValue === null ? schema().nullable() : schema()
  return publicValue.describe(
    isSecret ? `${description} True when it is set; the value is never returned.` : description,
  )
}

/** Reads one setting, or its default; decrypts secrets. One statement. */
export async function getSetting<Key extends SettingKey>(panel: Panel, key: Key): Promise<Settings[Key]> {
  return (await getSettings(panel, [key]))[key]
}

/** Reads settings by key, with defaults; decrypts secrets. One statement. */
export async function getSettings<Key extends SettingKey>(
  tx: Tx,
  keys: readonly Key[],
): Promise<Pick<Settings, Key>> {
  const stored = await findStoredSettings(tx, keys)
  const entries = keys.map(async (key) => {
    const value = stored.get(key) ?? definitionOf(key).defaultValue
    const isEncrypted = definitionOf(key).isSecret && typeof value === 'string'
    return [key, isEncrypted ? await decrypt(tx, value, settingSecretLocation(key)) : value] as const
  })
  return Object.fromEntries(await Promise.all(entries)) as Pick<Settings, Key>
}

/** Does the same as a column of a larger statement, without secrets. */
export function settingsColumn<Key extends SettingKey>(keys: readonly Key[]): SQL<Pick<Settings, Key>> {
  const { key, value } = settings
  const names = sql.join(
    keys.map((name) => sql`${name}::text`),
    sql`, `,
  )
  const stored = sql`(select coalesce(json_object_agg(${key}, ${value}), '{}'::json) from ${settings} where ${key} in (${names}))`
  return jsonColumn(stored, (found) => {
    const values = found as Record<string, unknown>
    const entries = keys.map((name) => [name, values[name] ?? definitionOf(name).defaultValue])
    return Object.fromEntries(entries) as Pick<Settings, Key>
  })
}

/** Reads all settings in their public form, with their version and latest changes. One statement. Spec: docs/api.md#features. */
export async function readPublicSettings(tx: Tx): Promise<SettingsWithChanges> {
  const rows = await tx.db
    .select({
      key: sql<SettingKey>`coalesce(${settings.key}, ${settingChanges.key})`,
      value: sql<string | null>`${settings.value}::text`,
      changedAt: settingChanges.changedAt,
      changedBy: { id: users.id, username: users.username },
    })
    .from(settings)
    .fullJoin(settingChanges, eq(settingChanges.key, settings.key))
    .leftJoin(users, eq(users.id, settingChanges.changedBy))
  const known = rows.filter(({ key }) => settingKeys.includes(key))
  const stored: StoredSettings = new Map(
    known.flatMap(({ key, value }) => (value === null ? [] : [[key, JSON.parse(value) as unknown] as const])),
  )
  return {
    settings: toPublicSettings(stored),
    version: await versionOfSettings(stored),
    changes: known.flatMap(({ key, changedAt, changedBy }) =>
      changedAt === null ? [] : [{ key, changedAt, changedBy }],
    ),
  }
}

/** Returns the defaults of all settings, by group and name; null for those that have none. */
export const defaultSettings = (): PublicSettings => groupSettings((key) => definitionOf(key).defaultValue)

/**
 * Changes the given settings, all or none, and returns all settings as `readPublicSettings` does. Refuses with 412 when
 * the caller expects another version. Another OpenID
 * Connect issuer clears the stored client secret, which belongs to the old one. Refuses with 403 a change of
 * the regions when the caller may not write nodes; with 422 a combination that leaves a feature without a
 * setting it needs, or a location without its region. Records `admin:settings.update` with the keys that
 * changed.
 */
export async function changeSettings(panel: Panel, input: SettingsChanges): Promise<SettingsWithChanges> {
  const sentChanges = await Promise.all(
    changesIn(input).map(async ([key, value]) => [key, await toStoredValue(panel, key, value)] as const),
  )
  return inTransaction(panel, async (tx) => {
    // Rules span several settings, so changes must not run in parallel. A transaction that relies on a
    // setting until it commits locks its row.
    await tx.db.execute(sql`lock table ${settings} in exclusive mode`)
    const before = await findStoredSettings(tx, settingKeys)
    requireExpectedVersion(tx, await versionOfSettings(before))
    const after = new Map(before)
    for (const [key, value] of withClearedSecret(before, sentChanges)) {
      if (value === null) after.delete(key)
      else after.set(key, value)
    }
    const changed = settingKeys.flatMap((key): Change[] =>
      isSame(before.get(key), after.get(key)) ? [] : [[key, after.get(key) ?? null]],
    )
    requireConsistentSettings(after)
    await requireLogos(tx, after)
    if (changed.length > 0) {
      await storeChanges(tx, changed)
      await recordEvent(tx, 'admin:settings.update', {
        properties: { changed: changed.map(([key]) => key) },
      })
      await applyRegionChanges(
        tx,
        valueOfSetting(before, 'regions.endpoints'),
        valueOfSetting(after, 'regions.endpoints'),
      )
    }
    return readPublicSettings(tx)
  })
}

/**
 * Adds the removal of the OpenID Connect client secret when the issuer changes and no new secret is sent: the
 * old secret must not reach another issuer.
 */
function withClearedSecret(before: StoredSettings, changes: readonly Change[]): readonly Change[] {
  const sent = new Map(changes)
  const issuer = sent.get('sign_in.oidc_issuer')
  const hasNewIssuer = issuer !== undefined && (issuer ?? undefined) !== before.get('sign_in.oidc_issuer')
  if (!hasNewIssuer || sent.has('sign_in.oidc_client_secret')) return changes
  return [...changes, ['sign_in.oidc_client_secret', null]]
}

type StoredSettings = Map<SettingKey, unknown>
type Change = readonly [key: SettingKey, value: unknown]

async function findStoredSettings(tx: Tx, keys: readonly SettingKey[]): Promise<StoredSettings> {
  const rows = await tx.db
    // As text: the column's own decoder would turn a text of digits, such as a client id, into a number.
    .select({ key: settings.key, value: sql<string>`${settings.value}::text` })
    .from(settings)
    .where(inArray(settings.key, [...keys]))
  return new Map(rows.map(({ key, value }) => [key as SettingKey, JSON.parse(value) as unknown]))
}

const valueOfSetting = <Key extends SettingKey>(stored: StoredSettings, key: Key) =>
  (stored.get(key) ?? definitionOf(key).defaultValue) as Settings[Key]

/** Returns the start of a hash of what is stored; secrets are in it as they are encrypted. */
async function versionOfSettings(stored: StoredSettings): Promise<string> {
  const text = JSON.stringify([...stored].toSorted(([one], [other]) => (one < other ? -1 : 1)))
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Buffer.from(hash).toString('base64url').slice(0, 16)
}

const toPublicSettings = (stored: StoredSettings): PublicSettings =>
  groupSettings((key) => {
    const { isSecret, defaultValue } = definitionOf(key)
    return isSecret ? stored.has(key) : (stored.get(key) ?? defaultValue)
  })

function changesIn(input: SettingsChanges): Change[] {
  return settingKeys.flatMap((key): Change[] => {
    const [group = '', name = ''] = key.split('.')
    const value = (input[group] as Record<string, unknown> | null | undefined)?.[name]
    return value === undefined ? [] : [[key, value]]
  })
}

const toStoredValue = async (panel: Panel, key: SettingKey, value: unknown): Promise<unknown> =>
  definitionOf(key).isSecret && typeof value === 'string'
    ? encrypt(panel, value, settingSecretLocation(key))
    : value

/** Returns the location for which a secret setting is encrypted. */
export const settingSecretLocation = (key: SettingKey): SecretLocation => ({
  table: 'settings',
  column: 'value',
  row: key,
})

function requireConsistentSettings(stored: StoredSettings): void {
  const values = Object.fromEntries(settingKeys.map((key) => [key, valueOfSetting(stored, key)])) as Settings
  const brokenRules = settingRules.filter(({ isSatisfied }) => !isSatisfied(values))
  if (brokenRules.length > 0) throw invalid(brokenRules)
}

const logoKeys = ['appearance.logo_light', 'appearance.logo_dark'] as const

/** Refuses with 422 a logo that was not uploaded. */
async function requireLogos(tx: Tx, stored: StoredSettings): Promise<void> {
  const named = logoKeys.flatMap((key) => {
    const name = valueOfSetting(stored, key)
    return name === null ? [] : [{ key, name }]
  })
  if (named.length === 0) return
  const names = named.map(({ name }) => name)
  const found = await tx.db.select({ name: logos.name }).from(logos).where(inArray(logos.name, names))
  const missing = named.filter(({ name }) => !found.some((logo) => logo.name === name))
  if (missing.length === 0) return
  throw invalid(
    missing.map(({ key }) => ({
      field: key,
      rule: 'exists',
      detail: 'Upload the logo first.',
      reason: 'logo_missing',
    })),
  )
}

const isSame = (before: unknown, after: unknown) => JSON.stringify(before) === JSON.stringify(after)

async function storeChanges(tx: Tx, changes: readonly Change[]): Promise<void> {
  const deletedKeys = changes.flatMap(([key, value]) => (value === null ? [key] : []))
  const upserted = changes.flatMap(([key, value]) => (value === null ? [] : [{ key, value }]))
  const updatedAt = tx.now()
  const changedBy = tx.actor.kind === 'user' ? tx.actor.user.id : null
  await tx.db
    .insert(settingChanges)
    .values(changes.map(([key]) => ({ key, changedBy, changedAt: updatedAt })))
    .onConflictDoUpdate({ target: settingChanges.key, set: { changedBy, changedAt: updatedAt } })
  if (deletedKeys.length > 0) await tx.db.delete(settings).where(inArray(settings.key, deletedKeys))
  if (upserted.length === 0) return
  await tx.db
    .insert(settings)
    .values(upserted.map((row) => ({ ...row, updatedAt })))
    .onConflictDoUpdate({ target: settings.key, set: { value: sql`excluded.value`, updatedAt } })
}
