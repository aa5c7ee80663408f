import { type SQL, sql } from 'drizzle-orm'
import { type Database, prepared, single } from './database.ts'

/**
 * A column that a larger statement selects beside its own, such as what a route reads beside the caller: both then take
 * one statement.
 */
export type DataColumn<Data> = {
  /** Part of the name under which the statement is kept, equal for equal SQL; null for SQL that is built each time. */
  name: string | null
  /** Builds the column over the tables of the larger statement; called once for each name. */
  column: () => SQL<Data>
  /** Values of its placeholders. */
  values: Record<string, unknown>
}

/** What a statement without tables selects from. */
export const oneRow = sql`(select 1) as one_row`

type Execute = { execute: (values: Record<string, unknown>) => Promise<{ data: unknown }[]> }

/** Reads a column alone: `from` are the tables that it is built over, if any. */
export async function readColumn<Data>(
  db: Database,
  { name, column, values }: DataColumn<Data>,
  from: { name: string; source: SQL; values: Record<string, unknown> } = {
    name: 'alone',
    source: oneRow,
    values: {},
  },
): Promise<Data> {
  const build = (connection: Database, key: string): Execute =>
    connection.select({ data: column() }).from(from.source).prepare(key)
  const key = `${name}_${from.name}`
  // Without a name a connection keeps nothing: the text is another one each time.
  const statement = name === null ? build(db, '') : prepared(db, key, (connection) => build(connection, key))
  return single(await statement.execute({ ...values, ...from.values })).data as Data
}
