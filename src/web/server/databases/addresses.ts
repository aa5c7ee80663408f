import type { Database } from '../../api/databases.ts'

/** Where the host is: `db.example.net:3306`. */
export const hostOf = ({ host: { address, port } }: Database): string =>
  `${address.includes(':') ? `[${address}]` : address}:${port}`

/** What plugins written in Java ask for. */
export const jdbcAddress = (database: Database): string => `jdbc:mysql://${hostOf(database)}/${database.name}`

/** User, host and name in one; with the password where it is known. */
export function connectionString(database: Database, password: string | null): string {
  const secret = password === null ? '' : `:${encodeURIComponent(password)}`
  return `mysql://${encodeURIComponent(database.username)}${secret}@${hostOf(database)}/${database.name}`
}
