import { type Column, getTableColumns, getTableName, type InferSelectModel, type SQL, sql } from 'drizzle-orm'
import { alias, type PgTable, QueryBuilder } from 'drizzle-orm/pg-core'

type Extras = Record<string, SQL>
type Values<E extends Extras> = { [K in keyof E]: E[K] extends SQL<infer V> ? V : never }
type Related<T extends PgTable, E extends Extras> = InferSelectModel<T> & Values<E>

export type EmbedOptions<T extends PgTable, E extends Extras> = {
  /** Which rows: gets the embedded table under the name it has here. */
  where: (table: T) => SQL | undefined
  /** Further columns, themselves embedded rows perhaps. */
  with?: (table: T) => E
  orderBy?: (table: T) => SQL
}

/** How deep the embedding is that is being built: names are unique along a line, and the same each time. */
let depth = 0

/**
 * The rows of a related table as one column of the statement, decoded into rows again: what a
 * list with its relations needs comes in one round trip. Ordered by id unless said otherwise.
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
  return sql<Related<T, E>[]>`(${query})`.mapWith((value: unknown) =>
    (parsed(value) as unknown[]).map(decode),
  )
}

/** The one related row, or null. */
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
  return sql<Related<T, E> | null>`(${query})`.mapWith((value: unknown) => decode(parsed(value)))
}

function embedded<T extends PgTable, E extends Extras>(table: T, options: EmbedOptions<T, E>) {
  depth += 1
  const source = alias(table, `${getTableName(table)}_${depth}`) as unknown as T
  const columns = Object.entries(getTableColumns(source))
  const extras = Object.entries(options.with?.(source) ?? {})
  depth -= 1
  const members = [...columns.map(([, column]) => sql`${column}`), ...extras.map(([, extra]) => extra)]
  const decode = (value: unknown): Related<T, E> => {
    const cells = value as unknown[]
    const row: [string, unknown][] = columns.map(([name, column], at) => [
      name,
      decodeCell(column, cells[at]),
    ])
    const rest: [string, unknown][] = extras.map(([name, extra], at) => [
      name,
      decodeExtra(extra, cells[columns.length + at]),
    ])
    return Object.fromEntries([...row, ...rest]) as Related<T, E>
  }
  return { source, values: sql`json_build_array(${sql.join(members, sql`, `)})`, decode }
}

const decodeCell = (column: Column, value: unknown) =>
  value === null ? null : column.mapFromDriverValue(value)

const decodeExtra = (extra: SQL, value: unknown) => {
  const { decoder } = extra as unknown as { decoder: { mapFromDriverValue: (value: unknown) => unknown } }
  return value === null ? null : decoder.mapFromDriverValue(value)
}

/** Drivers differ in whether they parse JSON. */
const parsed = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value)
