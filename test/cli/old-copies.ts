import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import type { SourceRow } from '../../src/cli/move-in/spool.ts'
import { laravelSchema, tablesOf } from './old-schema.ts'

type Rows = Record<string, SourceRow[]>

/** A text of JSON becomes what it says, where the column holds JSON. */
function withJson(table: string, row: SourceRow): Record<string, unknown> {
  const columns = tablesOf('pelican').find(({ name }) => name === table)?.columns ?? []
  const isJson = new Set(columns.filter(({ type }) => type === 'json').map(({ name }) => name))
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      isJson.has(name) && value !== null ? (JSON.parse(String(value)) as unknown) : value,
    ]),
  )
}

/** Adds rows to a table of a Pelican on PostgreSQL. */
export const addToPostgres = (sql: postgres.Sql, table: string, rows: SourceRow[]) =>
  sql.unsafe(`insert into "${table}" select * from json_populate_recordset(null::"${table}", $1)`, [
    rows.map((row) => withJson(table, row)) as never,
  ])

/** Writes the rows of a Pelican into a database as Laravel does, and returns the address. */
export async function copyToPostgres(url: string, rows: Rows): Promise<string> {
  const copy = postgres(url, { max: 1, onnotice: () => undefined })
  await copy.unsafe('create schema pelican')
  await copy.unsafe('set search_path = pelican')
  for (const statement of laravelSchema('pelican', 'postgres')) await copy.unsafe(statement)
  for (const [table, list] of Object.entries(rows)) await addToPostgres(copy, table, list)
  await copy.end()
  return `${url}?options=-c%20search_path%3Dpelican`
}

/** Adds rows to a table of a Pelican on SQLite. */
export function addToSqlite(database: DatabaseSync, table: string, rows: SourceRow[]): void {
  for (const row of rows) {
    const names = Object.keys(row)
    const [columns, marks] = [names.map((name) => `"${name}"`), names.map(() => '?')]
    const statement = `insert into "${table}" (${columns.join()}) values (${marks.join()})`
    database.prepare(statement).run(...Object.values(row))
  }
}

/** Writes them into a file of SQLite, and returns the address. */
export async function copyToSqlite(path: string, rows: Rows): Promise<string> {
  const copy = new DatabaseSync(path)
  for (const statement of laravelSchema('pelican', 'sqlite')) copy.exec(statement)
  for (const [table, list] of Object.entries(rows)) addToSqlite(copy, table, list)
  copy.close()
  return `sqlite:${path}`
}
