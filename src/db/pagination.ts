import { type Column, eq, type InferSelectModel, type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { type Database, only } from './database.ts'

type Fields = Record<string, SQL>
type Values<F extends Fields> = { [K in keyof F]: F[K] extends SQL<infer V> ? V : never }

export type PageRequest<T extends PgTable, F extends Fields> = {
  table: T & { id: Column }
  where?: SQL | undefined
  /** The id is added as the last word: pages never overlap. */
  orderBy?: SQL[]
  /** Further columns per row. */
  fields?: F
  page: number
  perPage: number
  /** Up to here the total is exact; beyond it grows with the page, so that a reader of all pages never stops early. */
  exactUpTo?: number
}

export type RowPage<Row> = { rows: Row[]; total: number; page: number; perPage: number }

/** One page of a table and the number of all rows that match, in one statement. */
export async function paginate<T extends PgTable, F extends Fields>(
  db: Database,
  request: PageRequest<T, F>,
): Promise<RowPage<InferSelectModel<T> & Values<F>>> {
  const { table, where, page, perPage, exactUpTo = 10_000 } = request
  const order = [...(request.orderBy ?? []), sql`${table.id} asc`]
  const offset = (page - 1) * perPage
  const few = db
    .select({ one: sql`1`.as('one') })
    .from(table as PgTable)
    .where(where)
    .limit(exactUpTo + 1)
    .as('few')
  const counted = db
    .select({ total: sql<number>`count(*)::int`.as('total') })
    .from(few)
    .as('counted')
  const ids = db
    .select({ id: sql<number>`${table.id}`.as('page_id') })
    .from(table as PgTable)
    .where(where)
    .orderBy(...order)
    .limit(perPage)
    .offset(offset)
    .as('ids')
  const found = (await db
    .select({
      total: counted.total,
      row: table as PgTable,
      ...(Object.keys(request.fields ?? {}).length > 0 ? { fields: request.fields } : {}),
    } as never)
    .from(counted)
    .leftJoin(ids, sql`true`)
    .leftJoin(table as PgTable, eq(table.id, ids.id))
    .orderBy(...order)) as { total: number; row: object | null; fields?: object }[]
  const rows = found.filter(({ row }) => row !== null).map(({ row, fields }) => ({ ...row, ...fields }))
  return {
    rows: rows as never,
    total: totalOf(only(found).total, exactUpTo, offset, rows.length, perPage),
    page,
    perPage,
  }
}

function totalOf(counted: number, exactUpTo: number, offset: number, shown: number, perPage: number): number {
  if (counted <= exactUpTo) return counted
  return Math.max(counted, offset + shown + (shown === perPage ? perPage : 0))
}
