import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type postgres from 'postgres'
import { expect } from 'vitest'

const lockKey = 4712

/** Where a run is killed: before the first row of a table that `when` is true of, a condition on NEW and OLD. */
export type KillPoint = { table: string; on?: 'insert' | 'update' | 'delete'; when?: string }

/** Kills a run while the database holds it at a point within its transaction. */
export async function killAt(sql: postgres.Sql, point: KillPoint, begin: () => ChildProcess): Promise<void> {
  const { table, on = 'insert', when = 'true' } = point
  await sql.unsafe(`create or replace function hold_move() returns trigger language plpgsql as $$ begin
    if ${when} then perform pg_advisory_xact_lock_shared(${lockKey}); end if;
    return ${on === 'delete' ? 'old' : 'new'}; end $$`)
  await sql.unsafe(
    `create trigger hold_move before ${on} on ${table} for each row execute function hold_move()`,
  )
  await sql.begin(async (held) => {
    await held`select pg_advisory_xact_lock(${lockKey})`
    const child = begin()
    const ended = once(child, 'exit')
    const waits = async () =>
      (
        await sql`select 1 from pg_locks where locktype = 'advisory' and objid = ${lockKey} and not granted
          and database = (select oid from pg_database where datname = current_database())`
      ).length > 0
    await expect.poll(waits, { timeout: 60_000, interval: 50 }).toBe(true)
    child.kill('SIGKILL')
    expect((await ended)[1]).toBe('SIGKILL')
  })
  // Waits until the transaction of the killed run is undone.
  await sql.unsafe(`drop trigger hold_move on ${table}`)
}

/** Counts the rows of tables, and what is noted of each as moved. */
export async function countRows(
  sql: postgres.Sql,
  tables: readonly string[],
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of tables) counts[table] = await countOf(sql, `select count(*) as n from ${table}`)
  for (const table of tables)
    counts[`moved ${table}`] = await countOf(
      sql,
      `select count(*) as n from moved_rows where table_name = '${table}'`,
    )
  return counts
}

const countOf = async (sql: postgres.Sql, statement: string) => Number((await sql.unsafe(statement))[0]?.n)

const dayMs = 86_400_000
/** Ids that no row of the old panel has. */
const withOwnIds = ['recovery_tokens', 'passkeys', 'identities']

/** Reads the rows of tables without what differs from run to run: times of the run, and how secrets are sealed. */
export async function readState(
  sql: postgres.Sql,
  tables: readonly string[],
): Promise<Record<string, unknown[]>> {
  const state: Record<string, unknown[]> = {}
  for (const table of [...tables, 'moved_rows']) {
    const rows = await sql.unsafe(`select to_jsonb(t) as row from ${table} t`)
    state[table] = rows.map(({ row }) => JSON.stringify(row, settle(table))).toSorted()
  }
  return state
}

const settle = (table: string) => (key: string, value: unknown) => {
  if (key === 'id' && withOwnIds.includes(table)) return 'own'
  if (typeof value !== 'string') return value
  if (/^\w+\.[\w-]{16}\.[\w-]+$/.test(value)) return 'sealed'
  // The mark of the activity has the time from which it moved.
  if (key === 'digest') return value.replace(/"from":"[^"]*"/, '"from":"of the run"')
  const isTime = /^\d{4}-\d\d-\d\dT/.test(value)
  return isTime && Date.parse(value) > Date.now() - dayMs / 2 ? 'of the run' : value
}
