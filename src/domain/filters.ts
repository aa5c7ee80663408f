import { and, type AnyColumn, asc, desc, ilike, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** What a list is asked for: one page, alternatives per field, the order, and relations by name. */
export type ListRequest = {
  page: number
  perPage: number
  filters: Record<string, string[]>
  sorts: { field: string; descending: boolean }[]
}

/** Turns the alternatives of one filter into a condition. */
export type Filter = (values: string[]) => SQL | undefined

/** Matches text that contains one of the values, whatever its case; `%`, `_` and `\` stand for themselves. */
export const containing =
  (column: PgColumn): Filter =>
  (values) =>
    or(...values.map((value) => ilike(sql`${column}::text`, `%${value.replace(/[\\%_]/g, '\\$&')}%`)))

/** Matches one of the values to the letter. */
export const equalling =
  (column: PgColumn): Filter =>
  (values) =>
    values.length > 0 ? inArray(sql`${column}::text`, values) : undefined

/** All filters that were asked for, joined by and. */
export const allFilters = (
  filters: Record<string, Filter>,
  asked: Record<string, string[]>,
): SQL | undefined =>
  and(
    ...Object.entries(asked).map(([name, values]) =>
      values.length > 0 ? filters[name]?.(values) : undefined,
    ),
  )

/** The order that was asked for. */
export const orderOf = (columns: Record<string, AnyColumn>, sorts: ListRequest['sorts']): SQL[] =>
  sorts.flatMap(({ field, descending }) => {
    const column = columns[field]
    return column ? [descending ? desc(column) : asc(column)] : []
  })
