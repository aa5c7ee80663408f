import type { SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import type { Database } from './database.ts'

/** A row as drivers deliver it, by position. */
export type Cells = readonly unknown[]
/** A statement that returns rows by position. */
export type CellStatement = { execute: (values: Record<string, unknown>) => Promise<Cells[]> }

const dialect = new PgDialect({ casing: 'snake_case' })

/** Prepares a statement whose rows come by position: drivers and drizzle make no objects of them. */
export const prepareCells = (db: Database, query: SQL): CellStatement =>
  db._.session.prepareQuery<{ execute: Cells[]; all: never; values: never }>(
    dialect.sqlToQuery(query),
    undefined,
    undefined,
    true,
    (rows) => rows,
  )

const keptStatements = new WeakMap<object, Map<string, unknown>>()
/** Of one connection; callers choose the size of a page and the relations. */
const maxKeptStatements = 500

/** Returns what `build` makes for this connection and key; it is built once, or each time when the key is null. */
export function keptStatement<Statement>(
  db: Database,
  key: string | null,
  build: () => Statement,
): Statement {
  if (key === null) return build()
  const kept = keptStatements.get(db) ?? new Map<string, unknown>()
  keptStatements.set(db, kept)
  if (!kept.has(key)) {
    if (kept.size >= maxKeptStatements) kept.clear()
    kept.set(key, build())
  }
  return kept.get(key) as Statement
}
