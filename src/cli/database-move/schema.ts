/** Runs one statement on one of both databases. */
export type Query = <Row>(text: string, values?: string[]) => Promise<Row[]>

/** One table that has rows of its own: a partitioned one is its partitions. */
export type Table = {
  name: string
  /** What it is a partition of, and which rows it takes; null for other tables. */
  parent: string | null
  bound: string | null
  /** Whether a crash empties it: then its rows are not worth to be moved. */
  is_unlogged: boolean
  /** The size of its own file in pages; long values are stored elsewhere. */
  pages: number
  columns: { name: string; type: string }[]
}

/** Settings with which both databases write values as the same text. Both need UTF-8 as well. */
export const sameTexts = [
  `timezone = 'UTC'`,
  `datestyle = 'ISO, MDY'`,
  `intervalstyle = 'postgres'`,
  `bytea_output = 'hex'`,
  `extra_float_digits = 1`,
]

/** Quotes a name for SQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Lists the tables of the panel with what is in them, by name. The list of migrations is none of them. */
export async function listTables(query: Query): Promise<Table[]> {
  const tables = await query<Omit<Table, 'columns'> & { columns: string }>(`
    select c.relname as name, i.inhparent::regclass::text as parent, pg_get_expr(c.relpartbound, c.oid) as bound,
      c.relpersistence = 'u' as is_unlogged,
      (pg_relation_size(c.oid) / current_setting('block_size')::int)::int as pages,
      (select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) order by attnum)
        from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '')::text as columns
    from pg_class c left join pg_inherits i on i.inhrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'migrations'
    order by c.relname collate "C"`)
  return tables.map((table) => ({ ...table, columns: JSON.parse(table.columns) as Table['columns'] }))
}

/** Creates the partitions that the target lacks: the panel makes one each month. */
export async function createPartitions(target: Query, tables: Table[]): Promise<void> {
  for (const { name, parent, bound } of tables)
    if (parent) await target(`create table if not exists ${quoted(name)} partition of ${parent} ${bound}`)
}

/** Drops every foreign key, since some tables name each other; the returned function adds and so checks them. */
export async function dropForeignKeys(target: Query): Promise<() => Promise<void>> {
  const keys = await target<{ child: string; name: string; definition: string }>(`
    select conrelid::regclass::text as child, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace`)
  for (const { child, name } of keys) await target(`alter table ${child} drop constraint ${name}`)
  return async () => {
    for (const { child, name, definition } of keys)
      await target(`alter table ${child} add constraint ${name} ${definition}`)
  }
}

/** Lets each counter of ids go on where it was, so that no id is given twice. */
export async function moveSequences(source: Query, target: Query): Promise<void> {
  const sequences = await source<{ name: string }>(`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'S' and relname <> 'migrations_id_seq'`)
  for (const { name } of sequences) {
    const [state] = await source<{ last: string; called: string }>(
      `select last_value::text as last, is_called::text as called from ${quoted(name)}`,
    )
    if (state)
      await target('select setval($1::text::regclass, $2::bigint, $3::boolean)', [
        quoted(name),
        state.last,
        state.called,
      ])
  }
}
