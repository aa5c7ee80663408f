import { sql } from 'drizzle-orm'
import { rowsOf } from '../../src/db/database.ts'
import type { World } from '../support/world.ts'

/** Table → number of rows and digest of their contents. */
export type Fingerprint = Record<string, string>

/** Tables to which refusals may write. */
const witnesses = ['throttles']

let query: string | null = null

/** Formats a row as text, without the last use of a key. */
const rowOf = (table: string) =>
  table === 'api_keys' ? `(to_jsonb(t) - 'last_used_at' - 'updated_at')::text` : `to_jsonb(t)::text`

async function fingerprintQuery(world: World): Promise<string> {
  const tables = rowsOf<{ relname: string }>(
    await world.database.db.execute(sql`
      select relname from pg_class where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p') and not relispartition order by relname`),
  )
  return tables
    .map(({ relname }) => relname)
    .filter((name) => !witnesses.includes(name))
    .map(
      (name) =>
        `select '${name}' as name, count(*) || ':' || md5(coalesce(string_agg(${rowOf(name)}, '' order by ${rowOf(name)}), '')) as content from "${name}" t`,
    )
    .join(' union all ')
}

/** Computes the fingerprint of the database, without the last use of keys. */
export async function fingerprintOf(world: World): Promise<Fingerprint> {
  query ??= await fingerprintQuery(world)
  const rows = rowsOf<{ name: string; content: string }>(await world.database.db.execute(sql.raw(query)))
  world.database.statements.length = 0
  return Object.fromEntries(rows.map(({ name, content }) => [name, content]))
}

/** Lists the tables that changed since `before`; sends no query when no statement wrote. */
export async function changesSince(world: World, before: Fingerprint): Promise<string[]> {
  const writes = world.database.statements.filter(
    (text) => /\b(insert|update|delete)\b/i.test(text) && !text.startsWith('with "touched"'),
  )
  world.database.statements.length = 0
  if (writes.length === 0) return []
  const now = await fingerprintOf(world)
  return Object.keys(now).filter((name) => now[name] !== before[name])
}
