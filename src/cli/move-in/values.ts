import type { SourceRow } from './spool.ts'

/** Returns a text column; null and a missing column are ''. */
export const textOf = (row: SourceRow, column: string): string => String(row[column] ?? '')

/** Returns a text column, or null where it is null, missing or blank. */
export const textOrNull = (row: SourceRow, column: string): string | null =>
  textOf(row, column).trim() || null

/** Returns a number, or the default where it is null or missing. */
export const numberOf = (row: SourceRow, column: string, otherwise = 0): number =>
  row[column] === null || row[column] === undefined ? otherwise : Number(row[column])

/** Returns a number, or null where it is null or missing. */
export const numberOrNull = (row: SourceRow, column: string): number | null =>
  row[column] === null || row[column] === undefined ? null : Number(row[column])

/** Whether a column is true: any number but 0. */
export const isTrue = (row: SourceRow, column: string): boolean => numberOf(row, column) !== 0

/** Returns a timestamp, which is in UTC; null for null and the zero date of MySQL. */
export function dateOf(row: SourceRow, column: string): Date | null {
  const text = textOf(row, column)
  if (text === '' || text.startsWith('0000-00-00')) return null
  const date = new Date(`${text.replace(' ', 'T')}Z`)
  return Number.isNaN(date.getTime()) ? null : date
}

/** Returns the times of a row, without those that it lacks. */
export function timesOf(row: SourceRow): { createdAt?: Date; updatedAt?: Date } {
  const [createdAt, updatedAt] = [dateOf(row, 'created_at'), dateOf(row, 'updated_at')]
  return { ...(createdAt && { createdAt }), ...(updatedAt && { updatedAt }) }
}

/** Parses a column with JSON; null for null and for what is not JSON. */
export function jsonOf(row: SourceRow, column: string): unknown {
  try {
    return JSON.parse(textOf(row, column)) as unknown
  } catch {
    return null
  }
}

/** Parses a column with a JSON list of texts; other values are an empty list. */
export function listOf(row: SourceRow, column: string): string[] {
  const value = jsonOf(row, column)
  return Array.isArray(value) ? value.map(String) : []
}

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a text is a uuid. */
export const isUuid = (text: string): boolean => uuidPattern.test(text)
