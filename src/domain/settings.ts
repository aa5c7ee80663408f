import { inArray, type SQL, sql } from 'drizzle-orm'
import * as z from 'zod'
import { settings } from '../db/schema.ts'
import { invalid } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { record } from './activity.ts'
import { closedObject } from './closed-object.ts'
import { followRegions } from './regions.ts'
import { open, seal, type SecretPlace } from './secrets.ts'
import {
  definitionOf,
  groupSettings,
  type SettingKey,
  settingKeys,
  settingRules,
  type Settings,
} from './setting-definitions.ts'

/** Settings as they travel, by group and name; of a secret only whether there is one. */
export type ShownSettings = Record<string, Record<string, unknown>>

/** What may be sent: any of the settings by group and name; null goes back to the default. */
export const SettingsChanges = () =>
  closedObject(
    Object.fromEntries(
      Object.entries(groupSettings((key) => changeOf(key))).map(([group, members]) => [
        group,
        closedObject(members).nullish(),
      ]),
    ),
  )
type SettingsChanges = Record<string, unknown>

const changeOf = (key: SettingKey) => {
  const { schema, description } = definitionOf(key)
  return schema().nullish().describe(description)
}

/** Schema of `ShownSettings`. */
export const SettingsShape = () =>
  z.object(
    Object.fromEntries(
      Object.entries(groupSettings((key) => shownOf(key))).map(([group, members]) => [
        group,
        z.object(members),
      ]),
    ),
  )

const shownOf = (key: SettingKey) => {
  const { schema, fallback, isSecret, description } = definitionOf(key)
  const shown = isSecret ? z.boolean() : fallback === null ? schema().nullable() : schema()
  return shown.describe(isSecret ? `${description} True when there is one; it is never shown.` : description)
}

/** One setting, or its default while nobody changed it; a secret is opened. One statement. */
export async function setting<Key extends SettingKey>(panel: Panel, key: Key): Promise<Settings[Key]> {
  return (await settingsOf(panel, [key]))[key]
}

/** These settings by key, defaults where nobody changed them; secrets are opened. One statement. */
export async function settingsOf<Key extends SettingKey>(
  panel: Panel,
  keys: readonly Key[],
): Promise<Pick<Settings, Key>> {
  const stored = await storedSettings(panel, keys)
  const entries = keys.map(async (key) => {
    const value = stored.get(key) ?? definitionOf(key).fallback
    const isSealed = definitionOf(key).isSecret && typeof value === 'string'
    return [key, isSealed ? await open(panel, value, placeOf(key)) : value] as const
  })
  return Object.fromEntries(await Promise.all(entries)) as Pick<Settings, Key>
}

/** The same as a column, for statements that find out more than this; no secrets. */
export function settingsColumn<Key extends SettingKey>(keys: readonly Key[]): SQL<Pick<Settings, Key>> {
  const { key, value } = settings
  const names = sql.join(
    keys.map((name) => sql`${name}::text`),
    sql`, `,
  )
  const stored = sql`(select coalesce(json_object_agg(${key}, ${value}), '{}'::json) from ${settings} where ${key} in (${names}))`
  return sql`${stored}`.mapWith((found: unknown) => {
    // Drivers differ in whether they parse JSON.
    const values = (typeof found === 'string' ? JSON.parse(found) : found) as Record<string, unknown>
    const entries = keys.map((name) => [name, values[name] ?? definitionOf(name).fallback])
    return Object.fromEntries(entries) as Pick<Settings, Key>
  })
}

/** Every setting in its shown form. One statement. Spec: General conventions, 5. */
export async function readSettings(panel: Panel): Promise<ShownSettings> {
  return shown(await storedSettings(panel, settingKeys))
}

/**
 * Changes the settings that were sent, all or none, and gives every one in its shown form. Refuses with
 * 422 what would leave a feature without what it needs, or a location without its region. Records `admin:settings.update` with the keys of
 * those that are different now.
 */
export async function changeSettings(panel: Panel, input: SettingsChanges): Promise<ShownSettings> {
  const sent = await Promise.all(
    sentSettings(input).map(async ([key, value]) => [key, await storable(panel, key, value)] as const),
  )
  return inTransaction(panel, async (panel) => {
    // What holds between settings is checked over all of them: two changes at once must not meet.
    // Whoever relies on one until his transaction ends has locked its row.
    await panel.db.execute(sql`lock table ${settings} in exclusive mode`)
    const before = await storedSettings(panel, settingKeys)
    const after = new Map(before)
    for (const [key, value] of sent) {
      if (value === null) after.delete(key)
      else after.set(key, value)
    }
    refuseContradictions(after)
    const changed = sent.filter(([key]) => !isSame(before.get(key), after.get(key)))
    if (changed.length > 0) {
      await store(panel, changed)
      await record(panel, 'admin:settings.update', { properties: { changed: changed.map(([key]) => key) } })
      await followRegions(panel, valueIn(before, 'regions.endpoints'), valueIn(after, 'regions.endpoints'))
    }
    return shown(after)
  })
}

type Stored = Map<SettingKey, unknown>
type Change = readonly [key: SettingKey, value: unknown]

async function storedSettings(panel: Panel, keys: readonly SettingKey[]): Promise<Stored> {
  const rows = await panel.db
    .select({ key: settings.key, value: settings.value })
    .from(settings)
    .where(inArray(settings.key, [...keys]))
  return new Map(rows.map(({ key, value }) => [key as SettingKey, value]))
}

const valueIn = <Key extends SettingKey>(stored: Stored, key: Key) =>
  (stored.get(key) ?? definitionOf(key).fallback) as Settings[Key]

const shown = (stored: Stored): ShownSettings =>
  groupSettings((key) => {
    const { isSecret, fallback } = definitionOf(key)
    return isSecret ? stored.has(key) : (stored.get(key) ?? fallback)
  })

function sentSettings(input: SettingsChanges): Change[] {
  return settingKeys.flatMap((key): Change[] => {
    const [group = '', name = ''] = key.split('.')
    const value = (input[group] as Record<string, unknown> | null | undefined)?.[name]
    return value === undefined ? [] : [[key, value]]
  })
}

const storable = async (panel: Panel, key: SettingKey, value: unknown): Promise<unknown> =>
  definitionOf(key).isSecret && typeof value === 'string' ? seal(panel, value, placeOf(key)) : value

const placeOf = (key: SettingKey): SecretPlace => ({ table: 'settings', column: 'value', row: key })

function refuseContradictions(stored: Stored): void {
  const values = Object.fromEntries(settingKeys.map((key) => [key, valueIn(stored, key)])) as Settings
  const broken = settingRules.filter(({ holds }) => !holds(values))
  if (broken.length > 0) throw invalid(broken)
}

const isSame = (before: unknown, after: unknown) => JSON.stringify(before) === JSON.stringify(after)

async function store(panel: Panel, changes: readonly Change[]): Promise<void> {
  const cleared = changes.flatMap(([key, value]) => (value === null ? [key] : []))
  const kept = changes.flatMap(([key, value]) => (value === null ? [] : [{ key, value }]))
  const updatedAt = panel.now()
  if (cleared.length > 0) await panel.db.delete(settings).where(inArray(settings.key, cleared))
  if (kept.length === 0) return
  await panel.db
    .insert(settings)
    .values(kept.map((row) => ({ ...row, updatedAt })))
    .onConflictDoUpdate({ target: settings.key, set: { value: sql`excluded.value`, updatedAt } })
}
