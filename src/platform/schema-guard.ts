import type { MiddlewareHandler } from 'hono'
import { type Database, errorCode } from '../db/database.ts'
import { countPendingMigrations } from '../db/migration-state.ts'
import { unavailable } from '../errors.ts'
import { isSafeMethod } from '../http/csrf.ts'
import type { HttpEnv } from '../http/http-env.ts'
import { log } from '../log.ts'

/** Milliseconds between two looks at a database that is behind. */
const recheckIntervalMs = 2000

/** Knows whether code of this version may write to its database. */
export type SchemaGuard = {
  /**
   * Whether the database lacks a migration of this code, or its role may not read them. Once all are applied the
   * database is not queried again, since migrations only add. Throws when the database does not answer.
   */
  isBehind: (db: Database) => Promise<boolean>
}

/** Creates a guard for an isolate or process that does not migrate its database itself. */
export function createSchemaGuard(): SchemaGuard {
  // Keeps values, not promises: on Workers the request that created a promise may have ended.
  let isCurrent = false
  let behindUntil = 0
  let hasLogged = false
  return {
    isBehind: async (db) => {
      if (isCurrent) return false
      if (Date.now() < behindUntil) return true
      isCurrent = (await countPendingMigrations(db)) === 0
      if (isCurrent) return false
      behindUntil = Date.now() + recheckIntervalMs
      if (!hasLogged) log('error', 'The database lacks migrations of this version: nothing is written.')
      hasLogged = true
      return true
    },
  }
}

/** Paths of GET requests that write: signing in with a provider, and opening the upload of a backup. */
const writingGetPaths = /^\/(?:auth\/oauth|api\/remote\/backups)\//

/** Refuses requests that may write with 503 while the database is behind. */
export const refuseWritesWhileBehind =
  (schemaGuard: SchemaGuard): MiddlewareHandler<HttpEnv> =>
  async (c, next) => {
    const mayWrite = !isSafeMethod(c.req.method) || writingGetPaths.test(c.req.path)
    if (mayWrite && (await schemaGuard.isBehind(c.var.panel.db))) throw migrationPendingError()
    await next()
  }

/** Returns the error, or a 503 when a statement failed because the database is behind. */
export async function explainFailure(schemaGuard: SchemaGuard, db: Database, error: Error): Promise<Error> {
  // SQLSTATE class 42: missing tables and columns.
  if (!errorCode(error)?.startsWith('42')) return error
  const isBehind = await schemaGuard.isBehind(db).catch(() => false)
  return isBehind ? migrationPendingError(error) : error
}

const migrationPendingError = (cause?: unknown) =>
  unavailable(
    'panel_upgrading',
    'The panel is being upgraded: its database must be migrated first. Try again shortly.',
    { cause },
  )
