import { join } from 'node:path'
import { type Env, readEnv } from '../platform/env.ts'
import { openDataDirectory } from '../platform/local/data-directory.ts'
import { openPglite } from '../platform/local/pglite.ts'
import { migratePostgres } from '../platform/postgres.ts'
import { faultOf } from './faults.ts'
import { printFault } from './output.ts'

try {
  const env = readEnv(process.env)
  await (env.DATABASE_URL ? migratePostgres(env.DATABASE_URL) : migrateEmbedded(env))
  console.log('The database has the newest schema.')
} catch (error) {
  printFault(faultOf(error), false)
  process.exitCode = 1
}

/** A panel that runs on the embedded database has done this at its start: the lock then refuses. */
async function migrateEmbedded(env: Env): Promise<void> {
  const directory = await openDataDirectory(env.DATA_DIR)
  try {
    const { close } = await openPglite(join(directory.path, 'database'))
    await close()
  } finally {
    await directory.release()
  }
}
