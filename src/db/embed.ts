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
import { type Decode, rowDecoder } from './compiled-rows.ts'
import { jsonColumn } from './json.ts'

type Extras = Record<string, SQL>
/** The values of columns, by their names. */
export type ValuesOf<E extends Extras> = { [K in keyof E]: E[K] extends SQL<infer V> ? V : never }
type Related<T extends PgTable, E extends Extras> = InferSelectModel<T> & ValuesOf<E>

export type EmbedOptions<T extends PgTable, E extends Extras> = {
  /** Selects the rows; gets the embedded table under its alias. */
  where: (table: T) => SQL | undefined
  /** Further columns, which may be embedded rows themselves. */
  with?: (table: T) => E
  orderBy?: (table: T) => SQL
  /** The columns to select; all when left out. */
  columns?: readonly (keyof InferSelectModel<T>)[]
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
  const extras = nested<Extras>(() => options.with?.(source) ?? {})
  return { source, ...rowOf<Related<T, E>>(source, extras, options.columns as readonly string[] | undefined) }
}

/**
 * Selects a row of one of the statement's tables as one JSON column, or null where it was joined without a row: a
 * driver reads one text several times faster than many columns. `columns` are those to select; all when left out.
 */
export function rowColumn<
  T extends PgTable & { id: Column },
  Name extends keyof InferSelectModel<T> = keyof InferSelectModel<T>,
>(table: T, columns?: readonly Name[]): SQL<Pick<InferSelectModel<T>, Name>> {
  const names = columns as readonly string[] | undefined
  const { values, decode } = rowOf<Pick<InferSelectModel<T>, Name>>(table, {}, names)
  return jsonColumn(sql`case when ${table.id} is not null then ${values} end`, decode)
}

/** Selects several values as one JSON column. */
export function valuesColumn<F extends Extras>(fields: F): SQL<ValuesOf<F>> {
  const { values, decode } = cellsOf<ValuesOf<F>>([], Object.entries(fields))
  return jsonColumn(values, decode)
}

/**
 * Builds a row as a JSON array of its columns and `extras`, and the function that decodes it. `names` are those of the
 * columns; all when left out.
 */
export function rowOf<Row>(table: PgTable, extras: Extras, names?: readonly string[]) {
  const columns = Object.entries(getTableColumns(table))
  return cellsOf<Row>(
    names ? columns.filter(([name]) => names.includes(name)) : columns,
    Object.entries(extras),
  )
}

function cellsOf<Row>(columns: [string, Column][], extras: [string, SQL][]) {
  const members = [...columns.map(([, column]) => sql`${column}`), ...extras.map(([, extra]) => extra)]
  const decode = rowDecoder<Row>([
    ...columns.map(([name, column]) => [name, columnDecoder(column)] as const),
    ...extras.map(([name, extra]) => [name, decoderOf(extra)] as const),
  ])
  return { values: sql`json_build_array(${sql.join(members, sql`, `)})`, decode }
}

/** What JSON holds as it is. */
const plainTypes = new Set(['string', 'number', 'boolean', 'json', 'array'])

const columnDecoder = (column: Column): Decode | null =>
  plainTypes.has(column.dataType) ? null : (value) => column.mapFromDriverValue(value)

const decoderOf = (expression: SQL): Decode => {
  const { decoder } = expression as unknown as { decoder: DriverValueDecoder<unknown, unknown> }
  return (value) => decoder.mapFromDriverValue(value)
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
