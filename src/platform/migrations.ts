import { join } from 'node:path'
import { repositoryRoot } from './repository.ts'

/** The folder of the generated migrations. */
export const migrationsFolder = join(repositoryRoot, 'drizzle')

/** The options of Drizzle's migrator, for every driver. */
export const migrationsConfig = {
  migrationsFolder,
  migrationsSchema: 'public',
  migrationsTable: 'migrations',
}
