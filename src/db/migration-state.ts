import { sql } from 'drizzle-orm'
import journal from '../../drizzle/meta/_journal.json' with { type: 'json' }
import { type Database, errorCode, rowsOf } from './database.ts'

/**
 * Counts the migrations of this code that the database lacks; null without the right to read the list. Throws when
 * the database cannot be reached.
 */
export async function countPendingMigrations(db: Database): Promise<number | null> {
  const newest = await newestMigration(db)
  return newest === null ? null : pendingMigrationsAfter(newest)
}

/** Counts the migrations of this code that are newer than one; `newest` is its time in milliseconds. */
export const pendingMigrationsAfter = (newest: number): number => migrationsAfter(newest).length

/** Names the migrations of this code that are newer than one, oldest first; `newest` is its time in milliseconds. */
export const migrationsAfter = (newest: number): string[] =>
  journal.entries.filter(({ when }) => when > newest).map(({ tag }) => tag)

/** The time of the newest migration of this code, in milliseconds. */
export const newestMigrationOfCode = Math.max(...journal.entries.map(({ when }) => when))

/** Whether the database has a migration that is newer than this code. */
export async function isNewerThanCode(db: Database): Promise<boolean> {
  return ((await newestMigration(db)) ?? 0) > newestMigrationOfCode
}

/** Returns the time of the newest applied migration in milliseconds, 0 without any; null without the right to read the list. */
export async function newestMigration(db: Database): Promise<number | null> {
  try {
    const result = await db.execute(sql`select max(created_at)::float8 as newest from migrations`)
    return rowsOf<{ newest: number | null }>(result)[0]?.newest ?? 0
  } catch (error) {
    const code = errorCode(error)
    // The first migration creates the table.
    if (code === '42P01') return 0
    if (code?.startsWith('42')) return null
    throw error
  }
}
