import type { MiddlewareHandler } from 'hono'
import { type Database, errorCode } from '../db/database.ts'
import { countPendingMigrations } from '../db/migration-state.ts'
import { unavailable } from '../errors.ts'
import type { HttpEnv } from '../http/environment.ts'
import { log } from '../log.ts'

/** Milliseconds for which a database that is behind is not asked again. */
const behindFor = 2000

/** What an isolate or process knows of its database: whether code of this version may write there. */
export type SchemaGuard = {
  /**
   * Whether the database lacks a migration of this code, or does not let us look. Once it has them all it is
   * asked no more, since migrations only add. Throws when it cannot be asked.
   */
  isBehind: (db: Database) => Promise<boolean>
}

/** One for each isolate or process that does not migrate its database itself. */
export function schemaGuard(): SchemaGuard {
  // Values and no promises: on Workers the request that made a promise may be gone.
  let isCurrent = false
  let behindUntil = 0
  let isTold = false
  return {
    isBehind: async (db) => {
      if (isCurrent) return false
      if (Date.now() < behindUntil) return true
      isCurrent = (await countPendingMigrations(db)) === 0
      if (isCurrent) return false
      behindUntil = Date.now() + behindFor
      if (!isTold) log('error', 'The database lacks migrations of this version: nothing is written.')
      isTold = true
      return true
    },
  }
}

const isReading = (method: string) => ['GET', 'HEAD', 'OPTIONS'].includes(method)
/** What writes though it is a GET: signing in by a provider, and opening the upload of a backup. */
const writingReads = /^\/(?:auth\/oauth|api\/remote\/backups)\//

/** Refuses with 503 whatever would write, while the database is behind. */
export const refuseWritesBehind =
  (schema: SchemaGuard): MiddlewareHandler<HttpEnv> =>
  async (c, next) => {
    const mayWrite = !isReading(c.req.method) || writingReads.test(c.req.path)
    if (mayWrite && (await schema.isBehind(c.var.panel.db))) throw behind()
    await next()
  }

/** The error itself, or a 503 where a statement failed because the database is behind. */
export async function explainFailure(schema: SchemaGuard, db: Database, error: Error): Promise<Error> {
  // Class 42 is what the database says of tables and columns that it does not have.
  if (!errorCode(error)?.startsWith('42')) return error
  const isBehind = await schema.isBehind(db).catch(() => false)
  return isBehind ? behind(error) : error
}

const behind = (cause?: unknown) =>
  unavailable('The panel is being upgraded: its database has to be migrated first.', cause)
