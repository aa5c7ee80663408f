import { quoted, type Query, type Table } from './schema.ts'

/** What a table has: the number of its rows, and a sum over them that does not depend on their order. */
export type Contents = { rows: number; checksum: string }

/** Characters that a batch shall have: some batches are in memory at once. */
const batchLength = 1024 * 1024
/** Pages of the first batch of a table, before the length of its rows is known, and of any. */
const [firstPages, maxPages] = [8, 512]

/**
 * Copies the rows of a table in batches of pages, as texts; `onBatch` is told the number of rows in each. The source
 * must not change meanwhile.
 */
export async function copyRows(
  source: Query,
  target: Query,
  table: Table,
  onBatch: (rows: number) => void,
): Promise<void> {
  const insert = insertStatement(table)
  let size = firstPages
  for (let page = 0; page < table.pages;) {
    const [batch] = await source<{ count: number } & Record<string, string>>(
      batchStatement(table, page, page + size),
    )
    page += size
    if (!batch || batch.count === 0) continue
    const texts = table.columns.map((_, index) => batch[`c${index}`] ?? '')
    await target(insert, texts)
    onBatch(batch.count)
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    size = Math.min(maxPages, Math.max(1, Math.floor((size * batchLength) / length)))
  }
}

/** Reads the rows of some pages as one array for each column, each written as the text of an array of texts. */
function batchStatement({ name, columns }: Table, from: number, to: number): string {
  const names = columns.map((column) => quoted(column.name))
  const lists = names.map((column, index) => `array_agg(${column}::text)::text as c${index}`)
  return `select count(*)::int as count, ${lists.join(', ')}
    from (select ${names.join(', ')} from ${quoted(name)}
      where ctid >= '(${from},0)' and ctid < '(${to},0)') as page`
}

/** Stores what `batchStatement` has read; each parameter has one column. */
function insertStatement({ name, columns }: Table): string {
  const names = columns.map((column) => quoted(column.name)).join(', ')
  const casts = columns.map(({ type }, index) => `c${index}::${type}`)
  const lists = columns.map((_, index) => `$${index + 1}::text[]`)
  return `insert into ${quoted(name)} (${names}) overriding system value select ${casts.join(', ')}
    from unnest(${lists.join(', ')}) as batch(${columns.map((_, index) => `c${index}`).join(', ')})`
}

/** Counts the rows of a table and sums up the MD5 of the text of each. */
export async function contentsOf(query: Query, { name, columns }: Table): Promise<Contents> {
  const row = columns.map((column) => quoted(column.name)).join(', ')
  const half = (side: 'left' | 'right') => `sum(('x' || ${side}(digest, 16))::bit(64)::bigint)`
  const [contents] = await query<Contents>(
    `select count(*)::float8 as rows, concat(${half('left')}, ':', ${half('right')}) as checksum
    from (select md5(row(${row})::text) as digest from ${quoted(name)} offset 0) as digests`,
  )
  return contents ?? { rows: 0, checksum: '' }
}
