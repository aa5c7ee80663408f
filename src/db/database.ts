import type { ExtractTablesWithRelations } from 'drizzle-orm'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import type * as schema from './schema.ts'

/** Postgres behind whichever driver; a transaction is one too. */
export type Database = PgDatabase<PgQueryResultHKT, typeof schema, ExtractTablesWithRelations<typeof schema>>

/** The first of the rows. Throws when there is none: for statements that always give one. */
export function only<Row>(rows: Row[]): Row {
  const [row] = rows
  if (row === undefined) throw new Error('A statement that always gives a row gave none.')
  return row
}

const memory = new WeakMap<object, Map<string, unknown>>()

/**
 * The statement that `build` makes for this connection, built once per connection and name.
 * `build` gives the result of drizzle's `.prepare(name)`.
 */
export function prepared<Statement>(
  db: Database,
  name: string,
  build: (db: Database) => Statement,
): Statement {
  const statements = memory.get(db) ?? new Map<string, unknown>()
  memory.set(db, statements)
  if (!statements.has(name)) statements.set(name, build(db))
  return statements.get(name) as Statement
}

/** The rows of a raw statement: drivers differ in where they put them. */
export function rowsOf<Row>(result: unknown): Row[] {
  return (Array.isArray(result) ? result : (result as { rows: unknown[] }).rows) as Row[]
}

/** The name of the violated constraint in snake_case when `error` is a unique violation, else null. */
export function uniqueViolation(error: unknown): string | null {
  const cause = violation(error)
  if (cause?.code !== '23505') return null
  // Names which drizzle derives from columns are in camelCase.
  return (cause.constraint ?? cause.constraint_name ?? '').replace(
    /[A-Z]/g,
    (letter) => `_${letter.toLowerCase()}`,
  )
}

/** Whether `error` says that a foreign key still points here, or to nothing. */
export function foreignKeyViolation(error: unknown): boolean {
  const code = violation(error)?.code
  return code === '23503' || code === '23001'
}

type Violation = { code?: string; constraint?: string; constraint_name?: string }

/** The SQLSTATE, or the driver's word, for why a statement failed; null when the error has none. */
export const errorCode = (error: unknown): string | null => violation(error)?.code ?? null

function violation(error: unknown): Violation | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (typeof (at as Violation).code === 'string') return at as Violation
  }
  return null
}
