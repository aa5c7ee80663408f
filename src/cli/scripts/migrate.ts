import { join } from 'node:path'
import { commandOf } from '../../platform/command-names.ts'
import { type Env, readEnv } from '../../platform/env.ts'
import { openDataDirectory } from '../../platform/local/data-directory.ts'
import { openPglite } from '../../platform/local/pglite.ts'
import { migratePostgres } from '../../platform/postgres.ts'
import { announceDatabase, createOption } from '../database.ts'
import { faultOf } from '../faults.ts'
import { printFault } from '../output.ts'
import { readOptions } from '../program-options.ts'

const { create: creates = false } = readOptions(
  `Usage: ${commandOf('migrate', '[--create]')}

Migrates the database to the newest schema.
  --create  creates the embedded database where there is none`,
  createOption,
)

try {
  const env = readEnv(process.env)
  await announceDatabase(env, creates)
  await (env.DATABASE_URL ? migratePostgres(env.DATABASE_URL) : migrateEmbedded(env))
  console.log('The database has the newest schema.')
} catch (error) {
  printFault(faultOf(error), false)
  process.exitCode = 1
}

/** Migrates the embedded database. Throws while a panel uses it, which has migrated it at its start. */
async function migrateEmbedded(env: Env): Promise<void> {
  const directory = await openDataDirectory(env.DATA_DIR)
  try {
    const { close } = await openPglite(join(directory.path, 'database'))
    await close()
  } finally {
    await directory.release()
  }
}
