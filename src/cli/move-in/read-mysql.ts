import { conditionOf } from './activity-scope.ts'
import { readInto, type SourceColumn, type SourceValue, type Storing } from './store-rows.ts'
import type { Spool } from './spool.ts'

type FoundColumn = SourceColumn & { owner: string }

/**
 * Copies the tables of a live MySQL or MariaDB into the spool, from one consistent snapshot in UTC, and closes the
 * connection. Only reads. `mysql://user:password@host:port/database`.
 */
export async function readMysql(address: string, spool: Spool, storing: Storing): Promise<void> {
  // The bundle has what this module exports below its default alone.
  const { default: mysql } = await import('mysql2')
  const callbacks = mysql.createConnection({
    uri: address,
    dateStrings: true,
    jsonStrings: true,
    supportBigNumbers: true,
    charset: 'utf8mb4',
  })
  const connection = callbacks.promise()
  try {
    await connection.query("set time_zone = '+00:00'")
    await connection.query('set session transaction isolation level repeatable read')
    await connection.query('start transaction with consistent snapshot, read only')
    const [found] = await connection.query(
      `select table_name as owner, column_name as name, data_type as type, column_default as preset
        from information_schema.columns where table_schema = database() order by table_name, ordinal_position`,
    )
    const tables = Map.groupBy(found as FoundColumn[], ({ owner }) => owner)
    for (const [table, columns] of tables)
      spool.columns.set(
        table,
        columns.map(({ name }) => name),
      )
    for (const table of storing.tables) {
      const columns = tables.get(table)
      if (!columns) continue
      const order = columns.find(({ name }) => name === 'id') ?? columns[0]
      const sql = `select ${columns.map(({ name }) => quoted(name)).join(', ')} from ${quoted(table)}${conditionOf(storing.activity, spool, table)} order by ${quoted(order!.name)}`
      const rows = callbacks.query({ sql, rowsAsArray: true }).stream() as AsyncIterable<SourceValue[]>
      await readInto(spool, storing, table, columns, rows)
    }
  } finally {
    await connection.end()
  }
}

const quoted = (name: string) => `\`${name.replaceAll('`', '``')}\``
