import { type Column, eq, type InferSelectModel, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { type Database, only, prepared } from './database.ts'

type Fields = Record<string, SQL>
type Values<F extends Fields> = { [K in keyof F]: F[K] extends SQL<infer V> ? V : never }

/** Which rows, in which order, and what comes with each. */
export type PageShape<T extends PgTable, F extends Fields> = {
  table: T & { id: Column }
  where?: SQL | undefined
  /** The id is added as the last word: pages never overlap. */
  orderBy?: SQL[]
  /** Further columns per row. */
  fields?: F
  /** A further number, a query of its own in brackets: it comes on an empty page as well. */
  alsoCounted?: SQL<number>
  /** Up to here the total is exact; beyond it grows with the page, so that a reader of all pages never stops early. */
  exactUpTo?: number
}

export type PageNumbers = { page: number; perPage: number }
export type RowPage<Row> = PageNumbers & { rows: Row[]; total: number; alsoCounted?: number }
type Found = { total: number; also: number; row: object | null; fields?: object }[]
type PageRow<T extends PgTable, F extends Fields> = InferSelectModel<T> & Values<F>

const defaultExactUpTo = 10_000
const { placeholder } = sql

/** One page of a table and the number of all rows that match, in one statement. */
export async function paginate<T extends PgTable, F extends Fields>(
  db: Database,
  request: PageShape<T, F> & PageNumbers,
): Promise<RowPage<PageRow<T, F>>> {
  const { page, perPage } = request
  const found = (await pageQuery(db, request, perPage, (page - 1) * perPage)) as Found
  return pageOf(found, request, request.exactUpTo)
}

/**
 * The same by a statement that is built and planned once per connection. `shape` is always the same for
 * one name, but for the values of its placeholders; `limit` and `offset` are taken.
 */
export async function paginatePrepared<T extends PgTable, F extends Fields>(
  db: Database,
  statement: { name: string; shape: () => PageShape<T, F>; values: Record<string, unknown> },
  numbers: PageNumbers,
): Promise<RowPage<PageRow<T, F>>> {
  const { page, perPage } = numbers
  const { query, exactUpTo } = prepared(db, statement.name, (connection) => {
    const shape = statement.shape()
    const built = pageQuery(connection, shape, placeholder('limit'), placeholder('offset'))
    return { query: built.prepare(statement.name), exactUpTo: shape.exactUpTo }
  })
  const values = { ...statement.values, limit: perPage, offset: (page - 1) * perPage }
  return pageOf((await query.execute(values)) as Found, numbers, exactUpTo)
}

function pageQuery<T extends PgTable, F extends Fields>(
  db: Database,
  shape: PageShape<T, F>,
  limit: number | Placeholder,
  offset: number | Placeholder,
) {
  const { table, where, fields, exactUpTo = defaultExactUpTo } = shape
  const source = table as PgTable
  const order = [...(shape.orderBy ?? []), sql`${table.id} asc`]
  const few = db
    .select({ one: sql`1`.as('one') })
    .from(source)
    .where(where)
    .limit(exactUpTo + 1)
    .as('few')
  const counted = db
    .select({
      total: sql<number>`count(*)::int`.as('total'),
      also: (shape.alsoCounted ?? sql<number>`0`).as('also'),
    })
    .from(few)
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
    also: counted.also,
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
  exactUpTo = defaultExactUpTo,
): RowPage<Row> {
  const rows = found.filter(({ row }) => row !== null).map(({ row, fields }) => ({ ...row, ...fields }))
  const offset = (page - 1) * perPage
  const total = elasticTotal({ counted: only(found).total, exactUpTo, offset, shown: rows.length, perPage })
  return { rows: rows as never, total, page, perPage, alsoCounted: only(found).also }
}

/** The total of rows that were counted no further than one beyond `exactUpTo`; from there on it grows with the page. */
export function elasticTotal(page: {
  counted: number
  exactUpTo: number
  offset: number
  shown: number
  perPage: number
}): number {
  const { counted, exactUpTo, offset, shown, perPage } = page
  if (counted <= exactUpTo) return counted
  return Math.max(counted, offset + shown + (shown === perPage ? perPage : 0))
}
