import { type Column, eq, type InferSelectModel, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { type Database, prepared, single } from './database.ts'

type Fields = Record<string, SQL>
type Values<F extends Fields> = { [K in keyof F]: F[K] extends SQL<infer V> ? V : never }

/** Which rows, in which order, with which further columns. */
export type PageShape<T extends PgTable, F extends Fields> = {
  table: T & { id: Column }
  where?: SQL | undefined
  /** The id is added as the last criterion, so that pages never overlap. */
  orderBy?: SQL[]
  /** Further columns per row. */
  fields?: F
  /** A further number, as a subquery in parentheses; also returned with an empty page. */
  extraCount?: SQL<number>
  /** Up to this number the total is exact; beyond, it grows with the page, so that readers of all pages never stop early. */
  maxExactTotal?: number
}

export type PageNumbers = { page: number; perPage: number }
export type RowPage<Row> = PageNumbers & { rows: Row[]; total: number; extraCount?: number }
type Found = { total: number; extraCount: number; row: object | null; fields?: object }[]
type PageRow<T extends PgTable, F extends Fields> = InferSelectModel<T> & Values<F>

/** Totals are exact up to this number of rows, unless a list says otherwise. */
export const defaultMaxExactTotal = 10_000

/** As `maxExactTotal` it counts exactly at any size; as `perPage` it is one page with everything. */
export const unlimitedCount = 2_147_483_647

/** Counts the row with this id, 1 or 0: as `extraCount` it tells an empty list from the list of a missing parent. */
export const countRow = (table: PgTable & { id: Column }, id: number): SQL<number> =>
  sql<number>`(select count(*)::int from ${table} where ${table.id} = ${id})`

const { placeholder } = sql

/** Reads one page of a table and the number of all matching rows, in one statement. */
export async function paginate<T extends PgTable, F extends Fields>(
  db: Database,
  request: PageShape<T, F> & PageNumbers,
): Promise<RowPage<PageRow<T, F>>> {
  const { page, perPage } = request
  const found = (await pageQuery(db, request, perPage, (page - 1) * perPage)) as Found
  return pageOf(found, request, request.maxExactTotal)
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
  const { page, perPage } = numbers
  const { query, maxExactTotal } = prepared(db, statement.name, (connection) => {
    const shape = statement.shape()
    const built = pageQuery(connection, shape, placeholder('limit'), placeholder('offset'))
    return { query: built.prepare(statement.name), maxExactTotal: shape.maxExactTotal }
  })
  const values = { ...statement.values, limit: perPage, offset: (page - 1) * perPage }
  return pageOf((await query.execute(values)) as Found, numbers, maxExactTotal)
}

function pageQuery<T extends PgTable, F extends Fields>(
  db: Database,
  shape: PageShape<T, F>,
  limit: number | Placeholder,
  offset: number | Placeholder,
) {
  const { table, where, fields, maxExactTotal = defaultMaxExactTotal } = shape
  const source = table as PgTable
  const order = [...(shape.orderBy ?? []), sql`${table.id} asc`]
  const capped = db
    .select({ one: sql`1`.as('one') })
    .from(source)
    .where(where)
    .limit(maxExactTotal + 1)
    .as('few')
  const counted = db
    .select({
      total: sql<number>`count(*)::int`.as('total'),
      extraCount: (shape.extraCount ?? sql<number>`0`).as('extra_count'),
    })
    .from(capped)
    .as('counted')
  const ids = db
    .select({ id: sql<number>`${table.id}`.as('page_id') })
    .from(source)
    .where(where)
    .orderBy(...order)
    .limit(limit)
    .offset(offset)
    .as('ids')
  // Drizzle cannot select an empty object.
  const selection = {
    total: counted.total,
    extraCount: counted.extraCount,
    row: source,
    ...(Object.keys(fields ?? {}).length > 0 ? { fields } : {}),
  }
  return db
    .select(selection as never)
    .from(counted)
    .leftJoin(ids, sql`true`)
    .leftJoin(source, eq(table.id, ids.id))
    .orderBy(...order)
}

function pageOf<Row>(
  found: Found,
  { page, perPage }: PageNumbers,
  maxExactTotal = defaultMaxExactTotal,
): RowPage<Row> {
  const rows = found.filter(({ row }) => row !== null).map(({ row, fields }) => ({ ...row, ...fields }))
  const offset = (page - 1) * perPage
  const total = elasticTotal({
    counted: single(found).total,
    maxExactTotal,
    offset,
    shown: rows.length,
    perPage,
  })
  return { rows: rows as never, total, page, perPage, extraCount: single(found).extraCount }
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
