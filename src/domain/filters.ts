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
  (column: PgColumn | SQL): Filter =>
  (values) =>
    or(
      ...values.map((value) => {
        const part = selectivePart(value)
        const contains = (text: SQL, searched: string) => ilike(text, `%${escaped(searched)}%`)
        if (part === value) return contains(sql`${column}::text`, value)
        // The index looks for the part alone: of an expression it knows nothing.
        return and(contains(sql`${column}::text`, part), contains(sql`(${column}::text || '')`, value))
      }),
    )

/** Digits that few rows have together. */
const minSelectiveDigits = 3
const maxPartLength = 10

/**
 * Returns the part of a text that few rows contain: its numbers, where it has some. The index by parts compares long lists
 * for the letters of `order-777`, which all rows have in common.
 */
function selectivePart(text: string): string {
  const [numbers = ''] = /.?\d.*\d.?/su.exec(text) ?? []
  const part = numbers.slice(0, maxPartLength)
  return part.replaceAll(/\D/g, '').length < minSelectiveDigits ? text : part
}

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

/** Matches one of the ids; what is no id matches nothing. */
export const idFilter =
  (column: PgColumn): Filter =>
  (values) =>
    inArray(column, values.filter((value) => /^\d{1,9}$/.test(value)).map(Number))

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

/** Names what a list reads when the request has no values in its SQL, only an order; undefined otherwise. */
export function shapeName({
  filters,
  sorts,
  search,
}: Omit<ListRequest, 'page' | 'perPage'> & { search?: string | null }) {
  const hasValues = Object.keys(filters).length > 0 || (search ?? null) !== null
  return hasValues ? undefined : sorts.map(({ field, descending }) => `${field} ${descending}`).join()
}
