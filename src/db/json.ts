import { type SQL, sql, type SQLWrapper } from 'drizzle-orm'

/** Decodes a JSON value as drivers give it: some as text, others parsed. */
export const decodeJson = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value)

/** Selects a JSON expression; `decode` converts its parsed value. */
export const jsonColumn = <T>(
  expression: SQLWrapper,
  decode: (value: unknown) => T = (value) => value as T,
): SQL<T> => sql<T>`(${expression})`.mapWith((value: unknown) => decode(decodeJson(value)))

/**
 * Copies an object of plain values. The parser of JSON makes objects whose copies by `{ ...copy }` are fast, unlike those
 * to which more than a dozen computed names were added.
 */
export const plainCopy = <Value extends object>(value: Value): Value =>
  JSON.parse(JSON.stringify(value)) as Value
