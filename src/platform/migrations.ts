import { fileURLToPath } from 'node:url'

/** Where the generated migrations are. */
export const migrationsFolder = fileURLToPath(new URL('../../drizzle', import.meta.url))

/** The tables as every driver needs to be told of them. */
export const migrationsConfig = {
  migrationsFolder,
  migrationsSchema: 'public',
  migrationsTable: 'migrations',
}
