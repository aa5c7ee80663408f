import type { Database } from '../../api/databases.ts'

/** Returns the address of the database host: `db.example.net:3306`. */
export const hostOf = ({ host: { address, port } }: Database): string =>
  `${address.includes(':') ? `[${address}]` : address}:${port}`

/** Returns the JDBC URL that Java plugins use. */
export const jdbcAddress = (database: Database): string => `jdbc:mysql://${hostOf(database)}/${database.name}`

/** Returns a connection URL; with the password when it is known. */
export function connectionString(database: Database, password: string | null): string {
  const secret = password === null ? '' : `:${encodeURIComponent(password)}`
  return `mysql://${encodeURIComponent(database.username)}${secret}@${hostOf(database)}/${database.name}`
}
