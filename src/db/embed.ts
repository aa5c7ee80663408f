import {
  type Column,
  type DriverValueDecoder,
  getTableColumns,
  getTableName,
  type InferSelectModel,
  type SQL,
  sql,
} from 'drizzle-orm'
import { alias, type PgTable, QueryBuilder } from 'drizzle-orm/pg-core'
import { jsonColumn } from './json.ts'

type Extras = Record<string, SQL>
type Values<E extends Extras> = { [K in keyof E]: E[K] extends SQL<infer V> ? V : never }
type Related<T extends PgTable, E extends Extras> = InferSelectModel<T> & Values<E>

export type EmbedOptions<T extends PgTable, E extends Extras> = {
  /** Selects the rows; gets the embedded table under its alias. */
  where: (table: T) => SQL | undefined
  /** Further columns, which may be embedded rows themselves. */
  with?: (table: T) => E
  orderBy?: (table: T) => SQL
}

/** Depth of the embedding being built: aliases are unique along a path, and the same in every statement. */
let aliasDepth = 0

/**
 * Selects the rows of a related table as one column, decoded into rows: a list with its relations takes one round
 * trip. Ordered by id by default.
 */
export function embedMany<T extends PgTable, E extends Extras = Record<never, SQL>>(
  table: T,
  options: EmbedOptions<T, E>,
): SQL<Related<T, E>[]> {
  const { source, values, decode } = embedded(table, options)
  const id = (source as unknown as { id?: Column }).id
  const order = options.orderBy?.(source) ?? (id ? sql`${id}` : sql`1`)
  const query = new QueryBuilder({ casing: 'snake_case' })
    .select({ rows: sql`coalesce(json_agg(${values} order by ${order}), '[]'::json)` })
    .from(source as PgTable)
    .where(options.where(source))
  return jsonColumn(query, (value) => (value as unknown[]).map(decode))
}

/** Selects the one related row as a column, or null. */
export function embedOne<T extends PgTable, E extends Extras = Record<never, SQL>>(
  table: T,
  options: EmbedOptions<T, E>,
): SQL<Related<T, E> | null> {
  const { source, values, decode } = embedded(table, options)
  const query = new QueryBuilder({ casing: 'snake_case' })
    .select({ row: sql`${values}` })
    .from(source as PgTable)
    .where(options.where(source))
    .limit(1)
  return jsonColumn<Related<T, E> | null>(query, decode)
}

function embedded<T extends PgTable, E extends Extras>(table: T, options: EmbedOptions<T, E>) {
  const source = alias(table, `${getTableName(table)}_${aliasDepth + 1}`) as unknown as T
  const columns = Object.entries(getTableColumns(source))
  const extras = Object.entries(nested<Extras>(() => options.with?.(source) ?? {}))
  const members = [...columns.map(([, column]) => sql`${column}`), ...extras.map(([, extra]) => extra)]
  const decode = (value: unknown): Related<T, E> => {
    const cells = value as unknown[]
    const row: [string, unknown][] = columns.map(([name, column], index) => [
      name,
      decodeCell(column, cells[index]),
    ])
    const extraEntries: [string, unknown][] = extras.map(([name, extra], index) => [
      name,
      decodeExtra(extra, cells[columns.length + index]),
    ])
    return Object.fromEntries([...row, ...extraEntries]) as Related<T, E>
  }
  return { source, values: sql`json_build_array(${sql.join(members, sql`, `)})`, decode }
}

/** Builds what is embedded one level deeper. */
function nested<Value>(build: () => Value): Value {
  aliasDepth += 1
  try {
    return build()
  } finally {
    aliasDepth -= 1
  }
}

const decodeCell = (column: Column, value: unknown) =>
  value === null ? null : column.mapFromDriverValue(value)

const decodeExtra = (extra: SQL, value: unknown) => {
  const { decoder } = extra as unknown as { decoder: { mapFromDriverValue: (value: unknown) => unknown } }
  return value === null ? null : decoder.mapFromDriverValue(value)
}

/**
 * Selects an embedded row that several rows share, those with the same `key`: with the first of them by `order`,
 * and null with the others. A page of many servers then carries each of their few eggs once.
 */
export function embedOnce<Value>(embedded: SQL<Value>, key: Column, order: Column): SQL<Value | null> {
  const { decoder } = embedded as unknown as { decoder: DriverValueDecoder<Value | null, unknown> }
  return sql<Value | null>`case when row_number() over (partition by ${key} order by ${order}) = 1 then ${embedded} end`.mapWith(
    decoder,
  )
}
