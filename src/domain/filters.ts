import { and, type AnyColumn, asc, desc, ilike, inArray, or, sql, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** The query of a list: page, alternatives for each filter, and order. */
export type ListRequest = {
  page: number
  perPage: number
  filters: Record<string, string[]>
  sorts: { field: string; descending: boolean }[]
}

/** Turns the alternatives of one filter into a condition. */
export type Filter = (values: string[]) => SQL | undefined

/** Matches text that contains one of the values, case-insensitively; `%`, `_` and `\` are literal. */
export const containsFilter =
  (column: PgColumn): Filter =>
  (values) =>
    or(...values.map((value) => ilike(sql`${column}::text`, `%${escaped(value)}%`)))

/** Matches one of the values, case-insensitively. */
export const ilikeFilter =
  (column: PgColumn): Filter =>
  (values) =>
    or(...values.map((value) => ilike(sql`${column}::text`, escaped(value))))

const escaped = (value: string) => value.replace(/[\\%_]/g, '\\$&')

/** Matches one of the values exactly. */
export const equalsFilter =
  (column: PgColumn): Filter =>
  (values) =>
    values.length > 0 ? inArray(sql`${column}::text`, values) : undefined

/** Joins the conditions of all requested filters with AND. */
export const combineFilters = (
  filters: Record<string, Filter>,
  requested: Record<string, string[]>,
): SQL | undefined =>
  and(
    ...Object.entries(requested).map(([name, values]) =>
      values.length > 0 ? filters[name]?.(values) : undefined,
    ),
  )

/** Builds the ORDER BY of the requested sorts. */
export const orderByColumns = (columns: Record<string, AnyColumn>, sorts: ListRequest['sorts']): SQL[] =>
  sorts.flatMap(({ field, descending }) => {
    const column = columns[field]
    return column ? [descending ? desc(column) : asc(column)] : []
  })
