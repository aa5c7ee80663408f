import { type Column, type InferSelectModel, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Database } from './database.ts'
import { type DataColumn, readColumn } from './data-column.ts'
import { rowOf } from './embed.ts'
import { jsonColumn } from './json.ts'
import { orderOf, pageIds } from './page-ids.ts'

type Fields = Record<string, SQL>
type Values<F extends Fields> = { [K in keyof F]: F[K] extends SQL<infer V> ? V : never }

/** Selects the `page_id` of the rows of a page, of those for which the condition holds. */
export type Walk = (condition: SQL | undefined, limits: { limit: SQL; offset: SQL }) => SQL

/** Which rows, in which order, with which further columns. */
export type PageShape<T extends PgTable, F extends Fields> = {
  table: T & { id: Column }
  /**
   * Selects the `id` of each row where something else than the table knows them, ordered by it; read once. `fields`
   * find its further columns in `ids`.
   */
  source?: SQL
  where?: SQL | undefined
  /**
   * A further condition, for which no index has the rows in the order of the page: up to 1,001 matches are found
   * first, then ordered and counted. Beyond 1,000 of them the total grows with the page.
   */
  search?: SQL | undefined
  /** The only matches of a search that `orderBy` puts before others; few, and found by an index. */
  first?: SQL | undefined
  /** The id is added as the last criterion, so that pages never overlap. */
  orderBy?: SQL[]
  /** Finds ids in the order of `orderBy` where it is that of another table. */
  walk?: Walk | undefined
  /** Further columns per row. */
  fields?: F
  /** A further number, as a subquery in parentheses; also returned with an empty page. */
  extraCount?: SQL<number>
  /** Up to this number the total is exact; beyond, it grows with the page, so that readers of all pages never stop early. */
  maxExactTotal?: number
}

export type PageNumbers = { page: number; perPage: number }
export type RowPage<Row> = PageNumbers & { rows: Row[]; total: number; extraCount?: number }
/** A page as a statement returns it; `total` counts up to one beyond the exact ones. */
export type FoundPage<Row> = { total: number; extraCount: number; rows: Row[]; maxExactTotal: number }
type PageRow<T extends PgTable, F extends Fields> = InferSelectModel<T> & Values<F>

/** Counts the row with this id, 1 or 0: as `extraCount` it tells an empty list from the list of a missing parent. */
export const countRow = (table: PgTable & { id: Column }, id: number): SQL<number> =>
  sql<number>`(select count(*)::int from ${table} where ${table.id} = ${id})`

const { placeholder } = sql

/** Reads one page of a table and the number of all matching rows, in one statement. */
export async function paginate<T extends PgTable, F extends Fields>(
  db: Database,
  request: PageShape<T, F> & PageNumbers,
): Promise<RowPage<PageRow<T, F>>> {
  const { limit, offset } = limitOf(request)
  const column = () => pageColumn(request, limit, offset)
  return toPage(await readColumn(db, { name: null, column, values: {} }), request)
}

/**
 * Reads the same with a statement that is built and planned once per connection. `shape` depends on the name only,
 * except for the values of its placeholders; the placeholders `limit` and `offset` are reserved.
 */
export async function paginatePrepared<T extends PgTable, F extends Fields>(
  db: Database,
  statement: { name: string; shape: () => PageShape<T, F>; values: Record<string, unknown> },
  numbers: PageNumbers,
): Promise<RowPage<PageRow<T, F>>> {
  return toPage(await readColumn(db, preparedPage(statement, numbers)), numbers)
}

/** Returns the column of such a page, for a larger statement. */
export const preparedPage = <T extends PgTable, F extends Fields>(
  statement: { name: string; shape: () => PageShape<T, F>; values: Record<string, unknown> },
  numbers: PageNumbers,
): DataColumn<FoundPage<PageRow<T, F>>> => ({
  name: statement.name,
  column: () => pageColumn(statement.shape(), placeholder('limit'), placeholder('offset')),
  values: { ...statement.values, ...limitOf(numbers) },
})

/** Returns the values of the placeholders `limit` and `offset` for a page. */
export const limitOf = ({ page, perPage }: PageNumbers) => ({ limit: perPage, offset: (page - 1) * perPage })

/**
 * Selects a page and the number of all matching rows as one JSON column. Ids are chosen first, so that columns of
 * rows before the page are not computed. `columns` names those of the table to select; all when left out.
 */
export function pageColumn<T extends PgTable, F extends Fields>(
  shape: PageShape<T, F> & { columns?: readonly (keyof InferSelectModel<T>)[] },
  limit: number | Placeholder,
  offset: number | Placeholder,
): SQL<FoundPage<PageRow<T, F>>> {
  const { table, fields, extraCount } = shape
  const { values, decode } = rowOf<PageRow<T, F>>(
    table,
    fields ?? {},
    shape.columns as readonly string[] | undefined,
  )
  const { sources, few, total, ids, maxExactTotal } = pageIds(shape, { limit, offset })
  const order = orderOf(shape)
  const rows = sql`select ${values} as page_row from (${ids}) ids inner join ${table} on ${table.id} = ids.page_id order by ${order}`
  const ctes = few
    ? sql`with few as materialized (${few}), counted as materialized (select ${total} as total) `
    : sources
      ? sql`with sources as materialized (${sources}) `
      : sql.empty()
  const page = sql`${ctes}select json_build_array(
    ${few ? sql`(select total from counted)` : total},
    ${extraCount ?? sql`0`},
    (select coalesce(json_agg(page_row), '[]'::json) from (${rows}) page_rows))`
  return jsonColumn(page, (value) => {
    const [total, extra, found] = value as [number, number, unknown[]]
    return { total, extraCount: extra, rows: found.map(decode), maxExactTotal }
  })
}

/** Returns the page that a statement found, with the total that the wire shows. */
export function toPage<Row>(
  { total: counted, extraCount, rows, maxExactTotal }: FoundPage<Row>,
  { page, perPage }: PageNumbers,
): RowPage<Row> {
  const offset = (page - 1) * perPage
  const total = elasticTotal({ counted, maxExactTotal, offset, shown: rows.length, perPage })
  return { rows, total, page, perPage, extraCount }
}

/** Returns the total of rows counted up to one beyond `maxExactTotal`; beyond, it grows with the page. */
export function elasticTotal(page: {
  counted: number
  maxExactTotal: number
  offset: number
  shown: number
  perPage: number
}): number {
  const { counted, maxExactTotal, offset, shown, perPage } = page
  if (counted <= maxExactTotal) return counted
  return Math.max(counted, offset + shown + (shown === perPage ? perPage : 0))
}
