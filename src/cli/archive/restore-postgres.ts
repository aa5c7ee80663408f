import { sql } from 'drizzle-orm'
import { rowsOf } from '../../db/database.ts'
import { type DatabaseHandle, openPostgres } from '../../platform/postgres.ts'
import { serverMajorOf } from './create.ts'
import { OperationError } from '../faults.ts'
import { findPostgresTool, runPostgresTool } from '../postgres-tools.ts'
import type { Replaced } from './replace-files.ts'

const oldSchema = 'before_restore'

/** Throws while a panel uses the database, and when it has tables, unless `replaces`. Returns the program to restore with. */
export async function preparePostgres(url: string, replaces: boolean): Promise<string> {
  const { db, close } = openPostgres(url, 1)
  try {
    const tables = rowsOf<{ name: string }>(
      await db.execute(sql`select tablename as name from pg_tables where schemaname = 'public'`),
    )
    if (tables.some(({ name }) => name === 'panel_instances')) await requireStopped(db)
    if (tables.length > 0 && !replaces)
      throw new OperationError(
        'The database is not empty. Name another one in DATABASE_URL, or repeat with --replace.',
      )
    return await findPostgresTool('pg_restore', await serverMajorOf(db))
  } finally {
    await close()
  }
}

async function requireStopped(db: DatabaseHandle['db']): Promise<void> {
  const running = rowsOf<{ machine: string }>(
    await db.execute(
      sql`select machine from panel_instances where seen_at > now() - interval '3 minutes' limit 1`,
    ),
  )
  if (running[0])
    throw new OperationError(
      `A panel on ${running[0].machine} uses the database. Stop it; after a crash wait for 3 minutes.`,
    )
}

/** Restores a dump into the database in one transaction; what was there is beside it until `keep`, and is back after `undo`. */
export async function restorePostgres(tool: string, url: string, dump: string): Promise<Replaced> {
  await execute(url, [
    `alter schema public rename to ${oldSchema}`,
    'create schema public',
    // An extension is there once, and the dump expects it in this schema.
    moveExtensions(oldSchema, 'public'),
  ])
  const undo = () =>
    execute(url, [
      moveExtensions('public', oldSchema),
      'drop schema public cascade',
      `alter schema ${oldSchema} rename to public`,
    ])
  try {
    await runPostgresTool(tool, url, [
      '--no-owner',
      '--no-privileges',
      '--single-transaction',
      '--exit-on-error',
      dump,
    ])
  } catch (error) {
    await undo()
    throw error instanceof OperationError
      ? new OperationError(`${error.message}\nThe database is what it was before.`)
      : error
  }
  return { undo, keep: () => execute(url, [`drop schema ${oldSchema} cascade`]) }
}

const moveExtensions = (from: string, to: string) => `do $$ begin
  if exists (select from pg_extension where extname = 'pg_trgm' and extnamespace = '${from}'::regnamespace) then
    alter extension pg_trgm set schema ${to};
  end if;
end $$`

async function execute(url: string, statements: string[]): Promise<void> {
  const { transaction, close } = openPostgres(url, 1)
  try {
    await transaction(async (db) => {
      for (const statement of statements) await db.execute(sql.raw(statement))
    })
  } finally {
    await close()
  }
}
