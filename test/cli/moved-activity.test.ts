import { once } from 'node:events'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { daysAgo } from './old-activity.ts'
import { appKeyText, createOldPanel, type OldKind, type OldPanel } from './old-panel.ts'

const hasServers = (await findPostgres('activity after a crash')) && hasMysql
const kinds: OldKind[] = ['pterodactyl', 'pelican']
const entries = 16_000
const lockKey = 4711

describe.skipIf(!hasServers).each(kinds)('activity of %s after a crash', (kind) => {
  let cli: CommandLine
  let database: Awaited<ReturnType<typeof createDatabase>>
  let old: OldPanel
  let sql: postgres.Sql

  beforeAll(async () => {
    ;[database, old] = await Promise.all([createDatabase(), createOldPanel(kind)])
    sql = postgres(database.url, { max: 3, onnotice: () => undefined })
    cli = await openCommandLine({ DATABASE_URL: database.url })
    await cli.script('scripts/migrate.ts')
    const rows = `from seq_10_to_${entries}`
    await old.query(
      `insert into activity_logs (id, event, ip, actor_type, actor_id, properties, timestamp)
        select seq, 'server:file.write', '203.0.113.5', 'user', 5, concat('{"file":"', seq, '"}'), '${daysAgo(2)}' ${rows}`,
    )
    // Backwards: the rows of the subjects need not be in the order of the entries.
    await old.query(
      `insert into activity_log_subjects (activity_log_id, subject_type, subject_id) select seq, 'server', 30 ${rows} order by seq desc`,
    )
    await sql.unsafe(`create function hold() returns trigger language plpgsql as $$ begin
      perform pg_advisory_xact_lock_shared(${lockKey}); return new; end $$`)
  }, 120_000)
  afterAll(async () => {
    await sql?.end()
    await cli?.remove()
    await old?.drop()
    await database?.drop()
  })

  const source = () => ['--database', old.url, '--app-key', appKeyText]
  const words = () => [`import:${kind}`, ...source()]
  const count = async () => Number((await sql`select count(*) as n from activity`)[0]?.n)

  /** Kills the command while it waits to write the entry with an id. */
  async function killAt(id: number): Promise<void> {
    await sql.unsafe(`create trigger hold before insert on activity for each row
      when (new.id = ${id} - 100000000000000) execute function hold()`)
    await sql.begin(async (held) => {
      await held`select pg_advisory_xact_lock(${lockKey})`
      const child = cli.begin(...words())
      const ended = once(child, 'exit')
      const waits = async () =>
        (
          await sql`select 1 from pg_locks where locktype = 'advisory' and objid = ${lockKey} and not granted
            and database = (select oid from pg_database where datname = current_database())`
        ).length > 0
      await expect.poll(waits, { timeout: 30_000, interval: 50 }).toBe(true)
      child.kill('SIGKILL')
      expect((await ended)[1]).toBe('SIGKILL')
    })
    await sql`drop trigger hold on activity`
  }

  it.each([
    ['in its first transaction', 1, 0],
    ['in a later one', 7000, 5992],
    ['in its last', 15_999, 13_992],
  ])('has what was committed when it is killed %s', { timeout: 90_000 }, async (_, id, committed) => {
    await killAt(id)
    expect(await count()).toBe(committed)
  })

  it('goes on to the state that one run has', { timeout: 90_000 }, async () => {
    const { code, body } = await cli.json(...words())
    const all = entries - 10 + 1 + 2
    expect([code, await count()]).toEqual([0, all])
    expect(body.tables).toContainEqual({
      table: 'activity',
      found: all + 1,
      movable: all,
      written: all - 13_992,
    })
    const verified = await cli.json('import:verify', ...source())
    expect(verified).toMatchObject({ code: 0, body: { differences: [] } })
    const again = await cli.json(...words(), '--since')
    expect(again.body.tables.filter(({ written }: any) => written > 0)).toEqual([])
    expect((await sql`select count(*)::int as n, count(distinct id)::int as ids from activity`)[0]).toEqual({
      n: all,
      ids: all,
    })
  })
})
