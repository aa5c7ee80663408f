import { fileURLToPath } from 'node:url'

/** The folder of the generated migrations. */
export const migrationsFolder = fileURLToPath(new URL('../../drizzle', import.meta.url))

/** The options of Drizzle's migrator, for every driver. */
export const migrationsConfig = {
  migrationsFolder,
  migrationsSchema: 'public',
  migrationsTable: 'migrations',
}
