import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { sql } from 'drizzle-orm'
import { rowsOf } from '../../db/database.ts'
import { newestMigration, newestMigrationOfCode } from '../../db/migration-state.ts'
import { sendToControlSocket } from '../../platform/local/control-socket.ts'
import { lockDataDirectory } from '../../platform/local/data-directory.ts'
import { openPglite } from '../../platform/local/pglite.ts'
import { version } from '../../version.ts'
import { OperationError } from '../faults.ts'
import type { Query } from './schema.ts'

/**
 * Runs work over the embedded database of a data directory, which is locked and only read meanwhile. Refuses a folder
 * without one, a panel that runs, and a schema that is not the one of this version.
 */
export async function withSource<T>(dataDirectory: string, work: (query: Query) => Promise<T>): Promise<T> {
  const folder = resolve(dataDirectory)
  const path = join(folder, 'database')
  console.error(`From: the embedded database in ${folder}`)
  if (!existsSync(join(path, 'PG_VERSION')))
    throw new OperationError(
      `There is no embedded database in ${folder}. Set DATA_DIR to the folder of the panel.`,
    )
  const { release } = await lockDataDirectory(dataDirectory)
  try {
    // In another container the process that holds the lock cannot be seen.
    if (await sendToControlSocket(folder, { verb: 'ping', input: {} }))
      throw new OperationError(`A panel runs on ${folder}. Stop it, and repeat.`)
    // As in functions/all/main.js: the optimizing compiler takes 600 MiB for one function of the engine.
    for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag)
    const { db, close } = await openPglite(path, undefined, { migrates: false })
    try {
      requireThisVersion(await newestMigration(db))
      await db.execute(sql`set default_transaction_read_only = on`)
      return await work(async (text) => rowsOf(await db.execute(sql.raw(text))))
    } finally {
      await close()
    }
  } finally {
    await release()
  }
}

function requireThisVersion(newest: number | null): void {
  if (newest === newestMigrationOfCode) return
  const isNewer = newest !== null && newest > newestMigrationOfCode
  throw new OperationError(
    isNewer
      ? `A newer version than ${version} has migrated the embedded database. Repeat with that version.`
      : `The embedded database lacks migrations of version ${version}. Start this version on it once, stop it, and repeat.`,
  )
}
