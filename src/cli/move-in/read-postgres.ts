import type { ClientBase } from 'pg'
import { conditionOf } from './activity-scope.ts'
import { readInto, type SourceColumn, type SourceValue, type Storing } from './store-rows.ts'
import type { Spool } from './spool.ts'

const batchRows = 1000
type FoundColumn = SourceColumn & { owner: string }

/**
 * Copies the tables of a live PostgreSQL into the spool, from one snapshot that only reads, and closes the connection.
 * Takes the schema that the search path of the address names first. `postgres://user:password@host:port/database`.
 */
export async function readPostgres(address: string, spool: Spool, storing: Storing): Promise<void> {
  const { default: pg } = await import('pg')
  // Values stay texts: each column is read by its type, as of the other sources.
  const client = new pg.Client({
    connectionString: address,
    types: { getTypeParser: () => (value: string) => value },
  })
  try {
    await client.connect()
    await client.query('begin transaction isolation level repeatable read, read only')
    // Dates with a zone come in that of the dates without one.
    await client.query("select set_config('timezone', $1, true), set_config('datestyle', 'ISO', true)", [
      storing.zone,
    ])
    const { rows } = await client.query<FoundColumn>(
      `select table_name as owner, column_name as name, data_type as type, column_default as preset
        from information_schema.columns where table_schema = current_schema() order by table_name, ordinal_position`,
    )
    const tables = Map.groupBy(rows, ({ owner }) => owner)
    for (const [table, columns] of tables)
      spool.columns.set(
        table,
        columns.map(({ name }) => name),
      )
    for (const table of storing.tables) {
      const columns = tables.get(table)
      const condition = conditionOf(storing.activity, spool, table)
      if (columns) await readInto(spool, storing, table, columns, rowsOf(client, table, columns, condition))
    }
    await client.query('commit')
  } finally {
    await client.end()
  }
}

async function* rowsOf(
  client: ClientBase,
  table: string,
  columns: SourceColumn[],
  condition: string,
): AsyncGenerator<SourceValue[]> {
  const order = columns.find(({ name }) => name === 'id') ?? columns[0]
  const names = columns.map(({ name }) => quoted(name)).join(', ')
  await client.query(
    `declare moved cursor for select ${names} from ${quoted(table)}${condition} order by ${quoted(order!.name)}`,
  )
  for (;;) {
    const { rows } = await client.query<SourceValue[]>({
      text: `fetch ${batchRows} from moved`,
      rowMode: 'array',
    })
    yield* rows
    if (rows.length < batchRows) break
  }
  await client.query('close moved')
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
