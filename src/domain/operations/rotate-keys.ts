import { and, asc, desc, gt, inArray, isNotNull, sql, type SQL } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { rowsOf } from '../../db/database.ts'
import { databaseHosts, databases, nodes, sessions, settings, users } from '../../db/schema.ts'
import type { Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { moveInKeysRow } from '../move-in/move-in.ts'
import { decrypt, encrypt, type EncryptedColumn, type SecretLocation } from '../secrets.ts'
import { definitionOf, settingKeys } from '../settings/definitions.ts'

/** How the secrets of one column are read and written. */
type SecretColumn = {
  table: PgTable
  /** Primary key of the table. */
  key: PgColumn
  /** The secret's `SecretLocation.row`. */
  row: SQL
  encrypted: SQL
  /** Builds the value of the column from an encrypted secret. */
  toColumnValue: (encrypted: SQL) => SQL
  /** Rows in which the column holds a secret; all when omitted. */
  condition?: SQL
}

const textColumn = (table: PgTable, key: PgColumn, column: PgColumn, row: SQL): SecretColumn => ({
  table,
  key,
  row,
  encrypted: sql`${column}`,
  toColumnValue: (encrypted) => encrypted,
})

const secretSettings = [...settingKeys.filter((key) => definitionOf(key).isSecret), moveInKeysRow]

const secretColumns: Record<EncryptedColumn, SecretColumn> = {
  'nodes.daemon_token': textColumn(nodes, nodes.id, nodes.daemonToken, sql`${nodes.uuid}::text`),
  'nodes.previous_token': textColumn(nodes, nodes.id, nodes.previousToken, sql`${nodes.uuid}::text`),
  'users.totp_secret': textColumn(users, users.id, users.totpSecret, sql`${users.uuid}::text`),
  'databases.password': textColumn(
    databases,
    databases.id,
    databases.password,
    sql`${databases.databaseHostId} || '/' || ${databases.username}`,
  ),
  'database_hosts.password': textColumn(
    databaseHosts,
    databaseHosts.id,
    databaseHosts.password,
    sql`${databaseHosts.id}::text`,
  ),
  'settings.value': {
    table: settings,
    key: settings.key,
    row: sql`${settings.key}`,
    encrypted: sql`${settings.value} #>> '{}'`,
    toColumnValue: (encrypted) => sql`to_jsonb(${encrypted})`,
    condition: inArray(settings.key, secretSettings),
  },
  'sessions.data': {
    table: sessions,
    key: sessions.id,
    row: sql`${sessions.id}`,
    encrypted: sql`${sessions.data} ->> 'oauthCheckpoint'`,
    toColumnValue: (encrypted) =>
      sql`jsonb_set(${sessions.data}, '{oauthCheckpoint}', to_jsonb(${encrypted}))`,
  },
}

/** Every column that holds encrypted secrets. */
export const encryptedColumns = Object.keys(secretColumns) as EncryptedColumn[]

/** How many secrets of a column are encrypted with each key, by key id. */
export type SecretsByKey = { column: EncryptedColumn; keys: Record<string, number> }

/**
 * Result for a column: `resealed` secrets use the newest key now, `changed` ones were replaced by another
 * write meanwhile, `failed` ones could not be decrypted and stay as they are.
 */
export type RotatedColumn = { column: EncryptedColumn; resealed: number; changed: number; failed: number }

/** Secrets that are read at a time. */
const pageSize = 200

/** Counts all encrypted secrets by column and key. One statement for each column. */
export async function countSecretsByKey(panel: Pick<Panel, 'db'>): Promise<SecretsByKey[]> {
  const counted: SecretsByKey[] = []
  for (const column of encryptedColumns) {
    const { table, encrypted, condition } = secretColumns[column]
    const found = await panel.db
      .select({ key: keyIdOf(encrypted), count: sql<number>`count(*)::int` })
      .from(table)
      .where(and(isNotNull(encrypted), condition))
      .groupBy(sql`1`)
      .orderBy(sql`1`)
    counted.push({ column, keys: Object.fromEntries(found.map(({ key, count }) => [key, count])) })
  }
  return counted
}

/**
 * Encrypts every secret with the newest key. Rows are written one by one, and only when they have not
 * changed since they were read, so the panel can keep running; a second run continues. Records
 * `admin:secrets.rotate` before the first of them.
 */
export async function rotateKeys(panel: Panel): Promise<RotatedColumn[]> {
  await recordEvent(panel, 'admin:secrets.rotate', { properties: { key: panel.keys[0]?.id ?? '' } })
  const done: RotatedColumn[] = []
  for (const column of encryptedColumns) {
    const result: RotatedColumn = { column, resealed: 0, changed: 0, failed: 0 }
    for await (const found of findOutdatedSecrets(panel, column))
      result[await rotateSecret(panel, column, found)] += 1
    done.push(result)
  }
  return done
}

type Secret = { key: unknown; row: string; encrypted: string }

/** Yields the secrets of a column that use another key than the newest. */
async function* findOutdatedSecrets(panel: Panel, column: EncryptedColumn): AsyncGenerator<Secret> {
  const { table, key, row, encrypted, condition } = secretColumns[column]
  const isOld = sql`${keyIdOf(encrypted)} <> ${panel.keys[0]?.id ?? ''}`
  let last: Secret | undefined
  for (;;) {
    const page: Secret[] = await panel.db
      .select({ key, row: sql<string>`${row}`, encrypted: sql<string>`${encrypted}` })
      .from(table)
      .where(and(isNotNull(encrypted), condition, isOld, last && gt(key, last.key)))
      .orderBy(asc(key))
      .limit(pageSize)
    yield* page
    last = page.at(-1)
    if (page.length < pageSize) return
  }
}

/** Secrets of a column that tell whether the keys fit. */
const sampleSize = 3

/** Whether a sample of the secrets can be decrypted: at least one of them, where there are any. One statement for each column. */
export async function keysFit(panel: Panel): Promise<boolean> {
  let hasSecrets = false
  for (const name of encryptedColumns) {
    const { table, key, row, encrypted, condition } = secretColumns[name]
    const sample = await panel.db
      .select({ row: sql<string>`${row}`, encrypted: sql<string>`${encrypted}` })
      .from(table)
      .where(and(isNotNull(encrypted), condition))
      .orderBy(desc(key))
      .limit(sampleSize)
    for (const found of sample) {
      hasSecrets = true
      const secret = await decrypt(panel, found.encrypted, locationOf(name, found.row)).catch(() => null)
      if (secret !== null) return true
    }
  }
  return !hasSecrets
}

function locationOf(name: EncryptedColumn, row: string): SecretLocation {
  const [table = '', column = ''] = name.split('.')
  return { table, column, row } as SecretLocation
}

async function rotateSecret(
  panel: Panel,
  name: EncryptedColumn,
  { key, row, encrypted }: Secret,
): Promise<'resealed' | 'changed' | 'failed'> {
  const location = locationOf(name, row)
  const secret = await decrypt(panel, encrypted, location).catch(() => null)
  if (secret === null) return 'failed'
  const secretColumn = secretColumns[name]
  const toColumnValue = secretColumn.toColumnValue(sql`${await encrypt(panel, secret, location)}::text`)
  const result = await panel.db.execute(sql`
    update ${secretColumn.table} set ${sql.identifier(name.split('.')[1] ?? '')} = ${toColumnValue}
    where ${secretColumn.key} = ${key} and ${secretColumn.encrypted} = ${encrypted} returning 1`)
  return rowsOf(result).length > 0 ? 'resealed' : 'changed'
}

const keyIdOf = (encrypted: SQL) => sql<string>`split_part(${encrypted}, '.', 1)`
