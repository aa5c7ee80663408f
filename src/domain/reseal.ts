import { and, asc, gt, inArray, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { rowsOf } from '../db/database.ts'
import { databaseHosts, databases, nodes, sessions, settings, users } from '../db/schema.ts'
import type { Panel } from '../panel.ts'
import { open, seal, type SealedColumn, type SecretPlace } from './secrets.ts'
import { definitionOf, settingKeys } from './setting-definitions.ts'

/** How secrets of one column are read and written. */
type Source = {
  table: PgTable
  /** Tells rows apart, and orders them. */
  key: PgColumn
  /** What `row` is in the place of a secret. */
  row: SQL
  sealed: SQL
  /** What the column becomes when `sealed` becomes this. */
  written: (sealed: SQL) => SQL
  /** Rows in which the column holds a secret; all of them when left out. */
  only?: SQL
}

const textColumn = (table: PgTable, key: PgColumn, column: PgColumn, row: SQL): Source => ({
  table,
  key,
  row,
  sealed: sql`${column}`,
  written: (sealed) => sealed,
})

const secretSettings = settingKeys.filter((key) => definitionOf(key).isSecret)

const sources: Record<SealedColumn, Source> = {
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
    sealed: sql`${settings.value} #>> '{}'`,
    written: (sealed) => sql`to_jsonb(${sealed})`,
    only: inArray(settings.key, secretSettings),
  },
  'sessions.data': {
    table: sessions,
    key: sessions.id,
    row: sql`${sessions.id}`,
    sealed: sql`${sessions.data} ->> 'oauthCheckpoint'`,
    written: (sealed) => sql`jsonb_set(${sessions.data}, '{oauthCheckpoint}', to_jsonb(${sealed}))`,
  },
}

/** Every column that holds sealed secrets. */
export const sealedColumns = Object.keys(sources) as SealedColumn[]

/** How many secrets of a column stand under each key, by its id. */
export type SealedUnder = { column: SealedColumn; keys: Record<string, number> }

/**
 * What became of the secrets of a column that stood under other keys. Of `changed` somebody else wrote another one
 * meanwhile; `failed` do not open, and are left as they are.
 */
export type Resealed = { column: SealedColumn; resealed: number; changed: number; failed: number }

/** Secrets that are read at a time. */
const pageSize = 200

/** Counts all sealed secrets by column and key. One statement a column. */
export async function countSealed(panel: Panel): Promise<SealedUnder[]> {
  const counted: SealedUnder[] = []
  for (const column of sealedColumns) {
    const { table, sealed, only } = sources[column]
    const found = await panel.db
      .select({ key: keyOf(sealed), count: sql<number>`count(*)::int` })
      .from(table)
      .where(and(isNotNull(sealed), only))
      .groupBy(sql`1`)
      .orderBy(sql`1`)
    counted.push({ column, keys: Object.fromEntries(found.map(({ key, count }) => [key, count])) })
  }
  return counted
}

/**
 * Every secret that opens is sealed with the newest key afterwards. Rows are written one by one and only as they were
 * read, so the panel may run meanwhile; a second run does what is left.
 */
export async function reseal(panel: Panel): Promise<Resealed[]> {
  const done: Resealed[] = []
  for (const column of sealedColumns) {
    const result: Resealed = { column, resealed: 0, changed: 0, failed: 0 }
    for await (const found of oldSecrets(panel, column)) result[await resealOne(panel, column, found)] += 1
    done.push(result)
  }
  return done
}

type Secret = { key: unknown; row: string; sealed: string }

/** The secrets of a column that stand under another key than the newest. */
async function* oldSecrets(panel: Panel, column: SealedColumn): AsyncGenerator<Secret> {
  const { table, key, row, sealed, only } = sources[column]
  const isOld = sql`${keyOf(sealed)} <> ${panel.keys[0]?.id ?? ''}`
  let last: Secret | undefined
  for (;;) {
    const page: Secret[] = await panel.db
      .select({ key, row: sql<string>`${row}`, sealed: sql<string>`${sealed}` })
      .from(table)
      .where(and(isNotNull(sealed), only, isOld, last && gt(key, last.key)))
      .orderBy(asc(key))
      .limit(pageSize)
    yield* page
    last = page.at(-1)
    if (page.length < pageSize) return
  }
}

async function resealOne(
  panel: Panel,
  name: SealedColumn,
  { key, row, sealed }: Secret,
): Promise<'resealed' | 'changed' | 'failed'> {
  const [table = '', column = ''] = name.split('.')
  const place = { table, column, row } as SecretPlace
  const secret = await open(panel, sealed, place).catch(() => null)
  if (secret === null) return 'failed'
  const source = sources[name]
  const written = source.written(sql`${await seal(panel, secret, place)}::text`)
  const result = await panel.db.execute(sql`
    update ${source.table} set ${sql.identifier(column)} = ${written}
    where ${source.key} = ${key} and ${source.sealed} = ${sealed} returning 1`)
  return rowsOf(result).length > 0 ? 'resealed' : 'changed'
}

const keyOf = (sealed: SQL) => sql<string>`split_part(${sealed}, '.', 1)`
