/** Sends one statement and gives its rows. */
export type Run = (statement: string) => Promise<Record<string, string>[]>

/** Calls what `addEmptying` made. */
export const emptyDatabase = 'select testing.empty()'

/**
 * Adds a function to a migrated database that removes every row, counts ids from 1 again and drops the partitions
 * that tests made. Its statements are planned once per connection, and only what was written is touched.
 */
export async function addEmptying(run: Run): Promise<void> {
  const tables = await run(`select relname as name from pg_class where relnamespace = 'public'::regnamespace
    and relkind in ('r', 'p') and not relispartition and relname <> 'migrations' order by relname`)
  const keys = await run(`select conrelid::regclass::text as child, confrelid::regclass::text as parent
    from pg_constraint where contype = 'f' and confdeltype in ('r', 'a') and not condeferrable`)
  const sequences = await run(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'S'
    and relname <> 'migrations_id_seq' order by relname`,
  )
  const emptyTables = childrenFirst(tables, keys).map(
    (name) => `if exists (select from public.${name}) then delete from public.${name}; end if;`,
  )
  const restartSequences = sequences.map(
    ({ name }) => `if (select is_called or last_value <> 1 from public.${name}) then
      perform setval('public.${name}', 1, false); end if;`,
  )
  await run('create schema testing')
  await run(`create function testing.empty() returns void language plpgsql as $$ declare partition text; begin
    ${emptyTables.join('\n')}
    ${restartSequences.join('\n')}
    for partition in select inhrelid::regclass from pg_inherits where inhparent = 'public.activity'::regclass
        and inhrelid <> 'public.activity_default'::regclass loop
      execute format('drop table %s', partition);
    end loop;
  end $$`)
}

/** Sorts tables so that no foreign key forbids deleting their rows in this order. */
function childrenFirst(tables: Record<string, string>[], keys: Record<string, string>[]): string[] {
  const left = new Set(tables.map(({ name = '' }) => name))
  const ordered: string[] = []
  while (left.size > 0) {
    const free = [...left].filter(
      (name) => !keys.some(({ child = '', parent }) => parent === name && child !== name && left.has(child)),
    )
    if (free.length === 0) throw new Error(`Keys forbid to empty any of ${[...left].join(', ')} first.`)
    for (const name of free) left.delete(name)
    ordered.push(...free)
  }
  return ordered
}
