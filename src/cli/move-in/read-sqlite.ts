import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { conditionOf } from './activity-scope.ts'
import { readInto, type SourceColumn, type SourceValue, type Storing } from './store-rows.ts'
import type { Spool } from './spool.ts'

/** Copies the tables of a file of SQLite into the spool, from one snapshot. The file is opened for reading. `sqlite:FILE`. */
export async function readSqlite(address: string, spool: Spool, storing: Storing): Promise<void> {
  const path = address.replace(/^sqlite:/, '')
  if (!existsSync(path)) throw new Error(`${path} is not there.`)
  const { DatabaseSync: Database } = await import('node:sqlite')
  const database = new Database(path, { readOnly: true })
  try {
    database.exec('begin')
    const tables = new Map(tablesOf(database).map((table) => [table, columnsOf(database, table)]))
    for (const [table, columns] of tables)
      spool.columns.set(
        table,
        columns.map(({ name }) => name),
      )
    for (const table of storing.tables) {
      const columns = tables.get(table)
      const condition = conditionOf(storing.activity, spool, table)
      if (columns) await readInto(spool, storing, table, columns, rowsOf(database, table, columns, condition))
    }
  } catch (error) {
    throw new Error(`${path} cannot be read: ${(error as Error).message}.`, { cause: error })
  } finally {
    database.close()
  }
}

function tablesOf(database: DatabaseSync): string[] {
  const found = database.prepare(
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name",
  )
  return found.all().map(({ name }) => String(name))
}

/** Laravel declares timestamps as datetime there. */
function columnsOf(database: DatabaseSync, table: string): SourceColumn[] {
  const found = database.prepare('select name, type, dflt_value as preset from pragma_table_info(?)')
  return found.all(table).map(({ name, type, preset }) => ({
    name: String(name),
    type: String(type).toLowerCase().replace('datetime', 'timestamp'),
    preset: preset === null || preset === undefined ? null : String(preset),
  }))
}

function rowsOf(
  database: DatabaseSync,
  table: string,
  columns: SourceColumn[],
  condition: string,
): Iterable<SourceValue[]> {
  const names = columns.map(({ name }) => quoted(name)).join(', ')
  const statement = database.prepare(`select ${names} from ${quoted(table)}${condition} order by 1`)
  statement.setReturnArrays(true)
  return statement.iterate() as unknown as Iterable<SourceValue[]>
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
