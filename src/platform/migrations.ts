import { contentFolder } from './content-folders.ts'

/** The folder of the generated migrations. */
export const migrationsFolder = contentFolder('drizzle')

/** The options of Drizzle's migrator, for every driver. */
export const migrationsConfig = {
  migrationsFolder,
  migrationsSchema: 'public',
  migrationsTable: 'migrations',
}
