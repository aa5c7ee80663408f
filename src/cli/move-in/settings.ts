import { eq, sql } from 'drizzle-orm'
import { customType, pgTable, text } from 'drizzle-orm/pg-core'
import { times } from '../../db/columns.ts'
import { movedRows, settingChanges } from '../../db/schema.ts'
import {
  definitionOf,
  type SettingKey,
  settingKeys,
  settingRules,
  type Settings,
} from '../../domain/settings/definitions.ts'
import { settingSecretLocation } from '../../domain/settings/settings.ts'
import type { Panel, Tx } from '../../panel.ts'
import { digestOfPanel, digestOfSource, findMoved, keyOf } from './ledger.ts'
import type { Move, MovedRow, Step } from './move.ts'
import { type OldEnv, plainValue } from './old-env.ts'
import { findOld, type Group, groupsOf, leftSettings, type OldSettings } from './old-settings.ts'
import type { MoveOptions } from './phases.ts'
import type { SourceRow } from './spool.ts'
import { textOf } from './values.ts'

/** JSON as it is: the usual column reads a text of digits, such as a client id, as a number. */
const json = customType<{ data: unknown }>({
  dataType: () => 'jsonb',
  toDriver: (value) => JSON.stringify(value),
  fromDriver: (value) => value,
})
const settings = pgTable('settings', { key: text().primaryKey(), value: json().notNull(), ...times })

/**
 * Settings of the old panel as this one stores them. What is gone there stays here: a run without `--env` would find
 * nothing. Of a secret the row has the name in the `.env` alone.
 */
export const settingsStep: Step = {
  source: 'panel_settings',
  target: settings,
  key: ['key'],
  isVerified: true,
  staysWhenGone: true,
  map: mapSetting,
  after: noteChanges,
}

function mapSetting(row: SourceRow, move: Move): MovedRow | null {
  const reason = textOf(row, 'reason')
  if (reason !== '') {
    const say = row.what === 'changed' ? move.report.change : move.report.leaveOut
    say('settings', Number(row.id), reason)
    return null
  }
  return toMovedRow(row, move.env)
}

function toMovedRow(row: SourceRow, env: OldEnv): MovedRow {
  const key = textOf(row, 'key') as SettingKey
  if (!definitionOf(key).isSecret)
    return { values: { key, value: JSON.parse(textOf(row, 'value')) as unknown } }
  const plain = plainValue(env?.[textOf(row, 'variable')]) ?? ''
  return { values: { key }, secrets: [{ column: 'value', plain, location: settingSecretLocation(key) }] }
}

/** Moved settings count as changed by the command line. */
async function noteChanges(tx: Tx): Promise<void> {
  await tx.db.execute(sql`
    insert into ${settingChanges} (key, changed_at)
    select ${settings.key}, ${tx.now().toISOString()}::timestamptz from ${settings}
      join ${movedRows} on ${eq(movedRows.tableName, 'settings')} and ${movedRows.key} = json_build_array(${settings.key})::text
    on conflict do nothing`)
}

/**
 * Adds to the rows of the old panel what its settings become here, and what is said of the others. What an administrator
 * set here is kept.
 */
export async function addSettings(panel: Panel, options: MoveOptions): Promise<void> {
  const old = await readOldSettings(options)
  const here = await readHere(panel)
  const rows: SourceRow[] = leftSettings(old).map((left) => ({ ...left, what: 'left out' }))
  const values = defaultsWith(here)
  for (const group of groupsOf(old.kind)) {
    const found = valuesOf(group, old)
    const mapped = group.map(found)
    const [id] = Object.values(found).map((value) => value.id)
    const leave = (reason: string) => rows.push({ id: id ?? 0, what: 'left out', reason })
    if (typeof mapped === 'string') {
      leave(mapped)
      continue
    }
    const moving = toRows(mapped, found)
    const problem = await problemOf(panel, options, { mapped, moving, here, values })
    if (problem) {
      if (problem.reason !== null) leave(problem.reason)
      continue
    }
    Object.assign(values, mapped)
    rows.push(...moving)
    const hint = group.hint?.(mapped, panel.config.url)
    if (hint) rows.push({ id: 0, what: 'changed', reason: hint })
  }
  await options.spool.add(settingsStep.source, rows)
}

const prefix = 'settings::'

async function readOldSettings({ kind, env, spool }: MoveOptions): Promise<OldSettings> {
  const rows: OldSettings['rows'] = new Map()
  for await (const batch of spool.batches('settings'))
    for (const row of batch)
      rows.set(textOf(row, 'key').replace(prefix, ''), {
        id: Number(row.id),
        text: row.value === null ? null : textOf(row, 'value'),
      })
  return { kind, rows, env }
}

type Here = Map<string, { key: string; value: unknown }>

async function readHere(panel: Panel): Promise<Here> {
  const rows = await panel.db.select({ key: settings.key, value: settings.value }).from(settings)
  return new Map(rows.map((row) => [row.key, row]))
}

const defaultsWith = (here: Here) =>
  Object.fromEntries(
    settingKeys.map((key) => [key, here.get(key)?.value ?? definitionOf(key).defaultValue]),
  ) as Settings

type Found = Parameters<Group['map']>[0]

const valuesOf = ({ places }: Group, old: OldSettings): Found =>
  Object.fromEntries(
    Object.entries(places).flatMap(([key, place]) => {
      const value = findOld(old, place)
      return value ? [[key, value]] : []
    }),
  )

const toRows = (mapped: Partial<Settings>, found: Found): SourceRow[] =>
  Object.entries(mapped).map(([key, value]): SourceRow =>
    definitionOf(key as SettingKey).isSecret
      ? { key, variable: found[key as SettingKey]?.name ?? '' }
      : { key, value: JSON.stringify(value) },
  )

type Candidate = { mapped: Partial<Settings>; moving: SourceRow[]; here: Here; values: Settings }

/** Returns why settings do not move, without a reason where an administrator set the same; null where they do. */
async function problemOf(
  panel: Panel,
  options: MoveOptions,
  { mapped, moving, here, values }: Candidate,
): Promise<{ reason: string | null } | null> {
  for (const [key, value] of Object.entries(mapped))
    if (
      !definitionOf(key as SettingKey)
        .schema()
        .safeParse(value).success
    )
      return { reason: `${key} cannot have the value that it has there` }
  const owned = await ownSettings(panel, options, moving, here)
  const [other] = owned.filter(({ isEqual }) => !isEqual)
  if (other) return { reason: `${other.key} is set here already, and stays` }
  if (owned.length > 0 && owned.length === moving.length) return { reason: null }
  const broken = settingRules.find(
    (rule) => rule.isSatisfied(values) && !rule.isSatisfied({ ...values, ...mapped }),
  )
  return broken ? { reason: `${broken.field}: ${broken.detail}` } : null
}

/** Finds those that this panel has by itself: that did not move in, or were changed here since. */
async function ownSettings(
  panel: Panel,
  options: MoveOptions,
  moving: SourceRow[],
  here: Here,
): Promise<{ key: string; isEqual: boolean }[]> {
  const rows = moving.map((row) => toMovedRow(row, options.env))
  const moved = await findMoved(
    panel,
    settingsStep,
    rows.map(({ values }) => keyOf(settingsStep, values)),
  )
  const found = rows.map(async (row) => {
    const key = String(row.values.key)
    const stored = here.get(key)
    if (!stored) return []
    const digest = await digestOfPanel(panel, options, settingsStep, stored, row)
    if (digest === moved.get(keyOf(settingsStep, row.values))) return []
    return [{ key, isEqual: digest === digestOfSource(options, settingsStep, row) }]
  })
  return (await Promise.all(found)).flat()
}
