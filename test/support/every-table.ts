import { listTables, quoted, type Query, sameTexts } from '../../src/cli/database-move/schema.ts'

type Column = {
  name: string
  type: string
  /** SQL of a value that another table has, for a foreign key. */
  parent: string | null
  /** The first text that a check allows. */
  allowed: string | null
}

/** Values for columns whose checks compare them with others. */
const fitting: Record<string, string> = {
  'announcements.ends_at': `'2026-03-01 00:00:00+00'`,
  'bulk_items.error_status': 'null',
}

/** Values by type, with what has to be quoted somewhere. */
const samples: Record<string, string> = {
  text: `'NULL, "quoted" \\ {} ü ' || chr(10)`,
  'text[]': `array['a,b', null, 'NULL', '', '"', '\\']`,
  json: `'{ "b": 1,  "a": [null], "b": 2 }'`,
  jsonb: `'null'`,
  integer: '1',
  smallint: '1',
  bigint: '9007199254740993',
  boolean: 'true',
  uuid: 'gen_random_uuid()',
  'double precision': '0.1::float8 + 0.2',
  real: '0.1',
  bytea: `'\\x0001ff'`,
  'timestamp(3) with time zone': `'2026-02-28 23:59:59.999+00'`,
}

/** Stores a row in every table that has none; returns the names of those tables. */
export async function fillEmptyTables(query: Query): Promise<string[]> {
  const tables = await query<{ name: string }>(`select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`)
  const empty: string[] = []
  for (const { name } of tables) {
    const [row] = await query(`select 1 from ${quoted(name)} limit 1`)
    if (!row) empty.push(name)
  }
  let left = empty
  // Parents come first: what fails for the lack of one is tried again.
  while (left.length > 0) {
    const failed: string[] = []
    let reason: unknown
    for (const name of left)
      await insertRow(query, name).catch((error: unknown) => {
        failed.push(name)
        reason = error
      })
    if (failed.length === left.length)
      throw new Error(`No row fits into ${failed.join(', ')}.`, { cause: reason })
    left = failed
  }
  return empty
}

async function insertRow(query: Query, table: string): Promise<void> {
  const columns = await columnsOf(query, table)
  const values = columns.map(
    ({ name, type, parent, allowed }) =>
      fitting[`${table}.${name}`] ?? parent ?? allowed ?? samples[type] ?? listOf(type),
  )
  await query(
    `insert into ${quoted(table)} (${columns.map(({ name }) => quoted(name)).join(', ')}) values (${values.join(', ')})`,
  )
}

const listOf = (type: string) => `array[${samples[type.replace(/\[\]$/, '')]}, null]::${type}`

const columnsOf = (query: Query, table: string) =>
  query<Column>(`select attname as name, format_type(atttypid, atttypmod) as type,
      (select format('(select %I from %s limit 1)', f.attname, k.confrelid::regclass) from pg_constraint k
        join pg_attribute f on f.attrelid = k.confrelid and f.attnum = k.confkey[array_position(k.conkey, a.attnum)]
        where k.contype = 'f' and k.conrelid = a.attrelid and a.attnum = any(k.conkey) limit 1) as parent,
      (select substring(pg_get_constraintdef(k.oid) from $$ANY \\(ARRAY\\[('[^']*')$$) from pg_constraint k
        where k.contype = 'c' and k.conrelid = a.attrelid and k.conkey = array[a.attnum] limit 1) as allowed
    from pg_attribute a
    where attrelid = 'public.${table}'::regclass and attnum > 0 and not attisdropped and attidentity = ''
      and attgenerated = ''`)

/** Reads all rows of all tables that outlive a crash, and all counters, as texts. */
export async function textsOf(query: Query): Promise<string[]> {
  for (const setting of sameTexts) await query(`set ${setting}`)
  const tables = (await listTables(query)).filter(({ is_unlogged: isTemporary }) => !isTemporary)
  const texts: string[] = []
  for (const { name } of tables)
    for (const { row } of await query<{ row: string }>(
      `select format('%s %s', '${name}', t::text) as row from ${quoted(name)} t order by t::text collate "C"`,
    ))
      texts.push(row)
  const counters = await query<{ row: string }>(
    `select format('%s %s', sequencename, last_value) as row from pg_sequences
    where sequencename <> 'migrations_id_seq' order by sequencename collate "C"`,
  )
  return [...texts, ...counters.map(({ row }) => row)]
}
