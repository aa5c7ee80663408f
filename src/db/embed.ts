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

type Decode = (value: unknown) => unknown

type Cells = readonly (readonly [name: string, decode: Decode | null])[]

/** Returns the function that makes a row of its cells, by position; cells without a decoder stay as they are. */
function rowDecoder<Row>(cells: Cells): (value: unknown) => Row {
  let decode: ((values: unknown[]) => object) | null = null
  return (value) => {
    decode ??= canCompile() ? compileRow(cells) : rowByName(cells)
    return decode(value as unknown[]) as Row
  }
}

let canCompileCode: boolean | null = null

/** Whether this process compiles code: Workers do so while they start, and no more once they answer requests. */
function canCompile(): boolean {
  if (canCompileCode !== null) return canCompileCode
  try {
    // oxlint-disable-next-line typescript/no-implied-eval -- only asks whether code can be compiled
    canCompileCode = Boolean(new Function(''))
  } catch {
    canCompileCode = false
  }
  return canCompileCode
}

/** Compiled rows by their source, since statements with filters are built anew each time. */
const compiledRows = new Map<string, (decoders: (Decode | null)[]) => (values: unknown[]) => object>()
const maxCompiledRows = 1000

/**
 * Compiles the literal of a row: V8 makes such an object in one step, while one function for all rows would look up
 * the place of each field.
 */
function compileRow(cells: Cells): (values: unknown[]) => object {
  const fields = cells.map(([name, decode], at) => {
    const cell = `values[${at}]`
    return `${JSON.stringify(name)}: ${decode ? `${cell} === null ? null : decoders[${at}](${cell})` : cell}`
  })
  const source = `return (values) => ({ ${fields.join(', ')} })`
  let compiled = compiledRows.get(source)
  if (!compiled) {
    // oxlint-disable-next-line typescript/no-implied-eval -- of names in our own code, quoted
    compiled = new Function('decoders', source) as NonNullable<typeof compiled>
    if (compiledRows.size >= maxCompiledRows) compiledRows.clear()
    compiledRows.set(source, compiled)
  }
  return compiled(cells.map(([, decode]) => decode))
}

const rowByName = (cells: Cells) => (values: unknown[]) => {
  const row: Record<string, unknown> = {}
  for (const [at, [name, decode]] of cells.entries()) {
    const cell = values[at]
    row[name] = cell === null || !decode ? cell : decode(cell)
  }
  return row
}

/** What JSON holds as it is. */
const plainTypes = new Set(['string', 'number', 'boolean', 'json', 'array'])

const columnDecoder = (column: Column): Decode | null =>
  plainTypes.has(column.dataType) ? null : (value) => column.mapFromDriverValue(value)

const decoderOf = (expression: SQL): Decode => {
  const { decoder } = expression as unknown as { decoder: { mapFromDriverValue: Decode } }
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
