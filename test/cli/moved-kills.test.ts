import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { countRows, killAt, type KillPoint, readState } from './killed-move.ts'
import { createOldDatabase, type OldDatabase } from './old-database.ts'
import { daysAgo } from './old-activity.ts'
import { appKeyText } from './old-panel.ts'
import type { OldVersion } from './old-schema.ts'

const hasServers = (await findPostgres('a move that is killed')) && hasMysql
/** An entry of the log in another range than the others. */
const lastId = 4500
const versions: OldVersion[] = ['1.12', 'pelican']

/** What a phase writes, and where it is killed: at its boundary, before its first row, and at two points inside. */
type Phase = { tables: string[]; points: [boundary: KillPoint, inside: KillPoint, further: KillPoint] }

const noted = (table: string): KillPoint => ({ table: 'moved_rows', when: `new.table_name = '${table}'` })
const row = (table: string, id: number | string): KillPoint => ({ table, when: `new.id = ${id}` })
const entry = (id: number) => row('activity', `${id} - 100000000000000`)

const phasesOf = (version: OldVersion): Record<string, Phase> => ({
  accounts: {
    tables: ['roles', 'users', 'recovery_tokens', 'api_keys', 'ssh_keys', 'passkeys', 'identities'],
    points: [
      { table: version === 'pelican' ? 'roles' : 'users' },
      { table: 'api_keys' },
      { table: 'users', on: 'update', when: 'new.api_key_count > old.api_key_count' },
    ],
  },
  'locations, nodes and hosts': {
    tables: ['locations', 'nodes', 'mounts', 'database_hosts'],
    points: [{ table: 'locations' }, { table: 'nodes' }, noted('database_hosts')],
  },
  eggs: {
    tables: ['nests', 'eggs', 'egg_variables'],
    points: [{ table: 'nests' }, row('eggs', 22), { table: 'eggs', on: 'update' }],
  },
  servers: {
    tables: ['servers', 'allocations'],
    points: [{ table: 'servers' }, row('allocations', 42), { table: 'nodes', on: 'update' }],
  },
  mounts: {
    tables: ['egg_mount', 'mount_node', 'mount_server'],
    points: [{ table: 'egg_mount' }, { table: 'mount_node' }, noted('mount_server')],
  },
  'what belongs to servers': {
    tables: ['subusers', 'schedules', 'tasks', 'databases', 'backups'],
    points: [{ table: 'subusers' }, { table: 'tasks' }, noted('backups')],
  },
  settings: {
    tables: ['settings', 'setting_changes'],
    points: [
      { table: 'settings' },
      noted('settings'),
      { table: 'setting_changes', when: "new.key = 'panel.name'" },
    ],
  },
  activity: {
    tables: ['activity', 'activity_subjects'],
    points: [entry(1), entry(2), noted('activity')],
  },
})

/** Rows of this panel whose ids those of the old one have. */
const ownRows = `insert into users (id, uuid, username, email, first_name, last_name) overriding system value
    values (5, '00000000-0000-4000-8000-000000000005', 'here', 'here@roost.example', '', '');
  insert into locations (id, short, long) overriding system value values (3, 'home', 'Home'), (1, 'attic', 'Attic')`

type Target = Awaited<ReturnType<typeof openTarget>>

/** A panel with rows of its own, into which an old one moves. */
async function openTarget(kind: string, url: string) {
  const database = await createDatabase()
  const sql = postgres(database.url, { max: 3, onnotice: () => undefined })
  const cli: CommandLine = await openCommandLine({ DATABASE_URL: database.url })
  await cli.script('scripts/migrate.ts')
  await sql.unsafe(ownRows)
  const env = join(cli.directory, 'old.env')
  await writeFile(env, `APP_KEY=${appKeyText}\nAPP_NAME=Old Castle\nAPP_LOCALE=de\nBACKUP_THROTTLE_LIMIT=5\n`)
  const words = [`import:${kind}`, '--database', url, '--env', env]
  return {
    sql,
    move: (...more: string[]) => cli.json(...words, ...more),
    kill: (point: KillPoint, ...more: string[]) => killAt(sql, point, () => cli.begin(...words, ...more)),
    verify: () => cli.json('import:verify', ...words.slice(1)),
    close: async () => {
      await sql.end()
      await cli.remove()
      await database.drop()
    },
  }
}

describe.skipIf(!hasServers).each(versions)('a move from %s that is killed', (version) => {
  const kind = version === 'pelican' ? 'pelican' : 'pterodactyl'
  const phases = phasesOf(version)
  const tables = Object.values(phases).flatMap((phase) => phase.tables)
  let old: OldDatabase
  let killed: Target
  let whole: Target
  let atFirst: Record<string, number>
  let atLast: Record<string, number>

  beforeAll(async () => {
    old = await createOldDatabase(version)
    await old.query(`update eggs set copy_script_from = 21 where id = 22`)
    await old.query(`update servers set egg_id = 22 where id = 31`)
    await old.query(`insert into activity_logs (id, event, ip, actor_type, actor_id, properties, timestamp)
      values (${lastId}, 'server:power.kill', '203.0.113.5', 'user', 5, '{}', '${daysAgo(2)}')`)
    ;[killed, whole] = [await openTarget(kind, old.url), await openTarget(kind, old.url)]
    atFirst = await countRows(whole.sql, tables)
    expect((await whole.move()).code).toBe(0)
    atLast = await countRows(whole.sql, tables)
  }, 180_000)
  afterAll(async () => {
    for (const target of [killed, whole]) await target?.close()
    await old?.drop()
  })

  /** Counts after the phases before one: theirs are those of the end, the others as they were. */
  const countsBefore = (name: string) => {
    const at = Object.keys(phases).indexOf(name)
    const done = Object.values(phases)
      .slice(0, at)
      .flatMap((phase) => phase.tables)
    return Object.fromEntries(
      Object.keys(atFirst).map((key) => [
        key,
        (done.includes(key.replace('moved ', '')) ? atLast : atFirst)[key],
      ]),
    )
  }

  it('has written something of each phase at its end', () => {
    for (const {
      tables: [first = '', ...others],
    } of Object.values(phases))
      expect([first, others].flat().some((table) => (atLast[table] ?? 0) > (atFirst[table] ?? 0))).toBe(true)
  })

  it.each<[string, KillPoint]>([
    ['before anything is written', { table: 'users', on: 'update' }],
    ['among the locations', { table: 'locations', on: 'update' }],
    ['after all', { table: 'users', on: 'insert', when: 'new.id = 5' }],
  ])('leaves the ids of this panel whole where they give way, %s', { timeout: 120_000 }, async (_, point) => {
    await killed.kill(point)
    const ids = await killed.sql`select (select min(id) from users) as "user",
      (select array_agg(id order by id) from locations) as locations`
    if (point.on === 'insert') expect(ids).not.toEqual([expect.objectContaining({ user: 5 })])
    else expect(ids).toEqual([{ user: 5, locations: [1, 3] }])
    expect(await countRows(killed.sql, tables)).toEqual(atFirst)
  })

  const points = Object.entries(phases).flatMap(([name, phase]) =>
    phase.points.map(
      (point, at) => [name, ['at its boundary', 'inside', 'further inside'][at] ?? '', point] as const,
    ),
  )
  it.each(points)('is as before the phase: %s, %s', { timeout: 120_000 }, async (name, _, point) => {
    await killed.kill(point)
    expect(await countRows(killed.sql, tables)).toEqual(countsBefore(name))
  })

  it('keeps what is committed of the activity', { timeout: 120_000 }, async () => {
    await killed.kill(entry(lastId))
    expect(await countRows(killed.sql, tables)).toEqual({ ...atLast, activity: (atLast.activity ?? 0) - 1 })
  })

  it('goes on to the same state as a run that was not killed', { timeout: 120_000 }, async () => {
    expect((await killed.move()).code).toBe(0)
    expect(await readState(killed.sql, tables)).toEqual(await readState(whole.sql, tables))
    expect(await killed.verify()).toMatchObject({ code: 0, body: { differences: [] } })
  })

  it(
    'goes on to the same state with --since, killed in each of its parts',
    { timeout: 240_000 },
    async () => {
      await old.query('delete from subusers where id = 1')
      await old.query('delete from backups where id = 1')
      await old.query("update servers set name = 'Renamed', egg_id = 21 where id = 31")
      await old.query('update eggs set copy_script_from = null where id = 22')
      await old.query('delete from eggs where id = 22')
      for (const point of [
        { table: 'backups', on: 'delete' },
        { table: 'subusers', on: 'delete' },
        { table: 'servers', on: 'update' },
        noted('servers'),
        // The egg is needed here until the server has the other.
        { table: 'eggs', on: 'delete', when: '(select egg_id from servers where id = 31) = 21' },
      ] as KillPoint[])
        await killed.kill(point, '--since')
      for (const target of [killed, whole]) expect((await target.move('--since')).code).toBe(0)
      expect(await readState(killed.sql, tables)).toEqual(await readState(whole.sql, tables))
      expect(await killed.sql`select id from eggs`).toEqual([{ id: 21 }])
      expect(await killed.verify()).toMatchObject({ code: 0, body: { differences: [] } })
    },
  )
})
