import type { ExtractTablesWithRelations } from 'drizzle-orm'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import type * as schema from './schema.ts'

/** Postgres over any driver, or a transaction in it. */
export type Database = PgDatabase<PgQueryResultHKT, typeof schema, ExtractTablesWithRelations<typeof schema>>

/** Returns the first row. Throws without one: use it for statements that always return a row. */
export function single<Row>(rows: Row[]): Row {
  const [row] = rows
  if (row === undefined) throw new Error('A statement that always returns a row returned none.')
  return row
}

const preparedStatements = new WeakMap<object, Map<string, unknown>>()

/** In the text of a statement whose plan depends on its values: it is planned for them each time, and gets no name. */
export const plannedForValues = '/* planned for its values */'

/**
 * Returns the statement that `build` makes for this connection; it is built once per connection and name.
 * `build` returns the result of drizzle's `.prepare(name)`.
 */
export function prepared<Statement>(
  db: Database,
  name: string,
  build: (db: Database) => Statement,
): Statement {
  const statements = preparedStatements.get(db) ?? new Map<string, unknown>()
  preparedStatements.set(db, statements)
  if (!statements.has(name)) statements.set(name, build(db))
  return statements.get(name) as Statement
}

/** Returns the rows of a raw statement, which drivers put in different places. */
export function rowsOf<Row>(result: unknown): Row[] {
  return (Array.isArray(result) ? result : (result as { rows: unknown[] }).rows) as Row[]
}

/** Returns the name of the violated constraint in snake_case if `error` is a unique violation, else null. */
export function uniqueViolation(error: unknown): string | null {
  const cause = driverError(error)
  if (cause?.code !== '23505') return null
  // Names that drizzle derives from columns are in camelCase.
  return (cause.constraint ?? cause.constraint_name ?? '').replace(
    /[A-Z]/g,
    (letter) => `_${letter.toLowerCase()}`,
  )
}

/** Tells whether `error` is the violation of a foreign key, in either direction. */
export function isForeignKeyViolation(error: unknown): boolean {
  const code = driverError(error)?.code
  return code === '23503' || code === '23001'
}

type DriverError = { code?: string; constraint?: string; constraint_name?: string }

/** Returns the SQLSTATE of a failed statement, or the driver's own code; null without one. */
export const errorCode = (error: unknown): string | null => driverError(error)?.code ?? null

function driverError(error: unknown): DriverError | null {
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    if (typeof (current as DriverError).code === 'string') return current as DriverError
  }
  return null
}
