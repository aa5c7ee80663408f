import type { Spool, SourceRow } from './spool.ts'
import { movedTables } from './source-schema.ts'

/**
 * Copies the tables of a live MySQL or MariaDB into the spool, from one consistent snapshot in UTC, and closes the
 * connection. Only reads. `mysql://user:password@host:port/database`.
 */
export async function readMysql(address: string, spool: Spool): Promise<void> {
  const { createConnection } = await import('mysql2')
  const callbacks = createConnection({
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
      `select table_name as name, column_name as col from information_schema.columns
        where table_schema = database() order by table_name, ordinal_position`,
    )
    for (const { name, col } of found as { name: string; col: string }[])
      spool.columns.set(name, [...(spool.columns.get(name) ?? []), col])
    for (const table of movedTables.filter((name) => spool.columns.has(name))) {
      const columns = spool.columns.get(table) ?? []
      const order = columns.includes('id') ? 'id' : columns[0]
      const statement = `select * from \`${table}\` order by \`${order}\``
      await spool.add(table, callbacks.query(statement).stream() as AsyncIterable<SourceRow>)
    }
  } finally {
    await connection.end()
  }
}
