import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { killAt } from './killed-move.ts'
import { appKeyText, createOldPanel, type OldPanel } from './old-panel.ts'

const hasServers = (await findPostgres('the time zone of what moves in')) && hasMysql

describe.skipIf(!hasServers)('the time zone of a move', { timeout: 120_000 }, () => {
  let cli: CommandLine
  let database: Awaited<ReturnType<typeof createDatabase>>
  let old: OldPanel
  let sql: postgres.Sql

  beforeAll(async () => {
    database = await createDatabase()
    old = await createOldPanel('pterodactyl')
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
    cli = await openCommandLine({ DATABASE_URL: database.url })
    await cli.script('scripts/migrate.ts')
    await writeFile(join(cli.directory, 'old.env'), `APP_KEY=${appKeyText}\nAPP_TIMEZONE=Europe/Berlin\n`)
  }, 120_000)
  afterAll(async () => {
    await sql?.end()
    await cli?.remove()
    await old?.drop()
    await database?.drop()
  })

  const withKey = () => ['--database', old.url, '--app-key', appKeyText]
  const withEnv = () => ['--database', old.url, '--env', join(cli.directory, 'old.env')]
  const move = (...words: string[]) => cli.json('import:pterodactyl', ...words)

  it('is said by the check, with where it comes from', async () => {
    const byDefault = await move(...withKey(), '--check')
    expect(byDefault.body.timezone).toEqual({ name: 'UTC', from: 'default' })
    expect(byDefault.body.notes[0]).toMatch(/^Time zone of schedules: UTC, since neither .*--timezone/)
    expect((await move(...withEnv(), '--check')).body.timezone).toEqual({
      name: 'Europe/Berlin',
      from: 'env',
    })
    const given = await cli.panel('import:pterodactyl', ...withEnv(), '--timezone', 'Asia/Tokyo', '--check')
    expect(given.stdout).toContain('Time zone of schedules: Asia/Tokyo, as given.')
    // A check binds nothing.
    expect(await sql`select key from moved_rows`).toEqual([])
  })

  it('stays that of the first run: another one is refused and named', async () => {
    expect((await move(...withEnv())).code).toBe(0)
    expect(await sql`select timezone from schedules`).toEqual([{ timezone: 'Europe/Berlin' }])
    await old.query("update servers set name = 'Renamed' where id = 30")
    await sql`delete from moved_rows where table_name = 'backups'`
    await sql`delete from backups`
    const refusal = /Europe\/Berlin as the time zone of schedules.*would take UTC.*--timezone Europe\/Berlin/
    for (const more of [[], ['--since'], ['--check']])
      expect(await move(...withKey(), ...more)).toMatchObject({
        code: 1,
        body: { error: expect.stringMatching(refusal) },
      })
    expect((await cli.json('import:verify', ...withKey())).body.error).toMatch(refusal)
    const other = await move(...withEnv(), '--timezone', 'Asia/Tokyo', '--since')
    expect(other.body.error).toMatch(/would take Asia\/Tokyo, as given/)
    expect(await sql`select name from servers where name = 'Renamed'`).toEqual([])
    expect(await sql`select id from backups`).toEqual([])
  })

  it('is taken by a further run that gives the same', async () => {
    const zone = ['--timezone', 'Europe/Berlin']
    const { code, body } = await move(...withKey(), ...zone, '--since')
    expect([code, body.error, body.timezone]).toEqual([
      0,
      undefined,
      { name: 'Europe/Berlin', from: 'option' },
    ])
    expect(await sql`select name from servers where id = 30`).toEqual([{ name: 'Renamed' }])
    expect(await sql`select id from backups`).not.toEqual([])
    expect(await cli.json('import:verify', ...withKey(), ...zone)).toMatchObject({
      code: 0,
      body: { differences: [] },
    })
    expect((await move(...withEnv())).code).toBe(0)
  })

  it('is corrected when asked, with the next runs, but not of schedules that were changed here', async () => {
    await old.query(
      `insert into schedules (id, server_id, name, cron_day_of_week, cron_month, cron_day_of_month, cron_hour, cron_minute, is_active, is_processing)
        values (2, 30, 'Noon', '*', '*', '*', '12', '0', 1, 0)`,
    )
    expect((await move(...withEnv())).code).toBe(0)
    await sql`update schedules set name = 'Ours' where id = 2`
    const zone = ['--timezone', 'Asia/Tokyo']
    expect((await move(...withKey(), ...zone, '--since')).body.error).toMatch(/--correct-timezone/)
    const checked = await move(...withKey(), ...zone, '--correct-timezone', '--check')
    expect(checked.body.notes[1]).toMatch(/^It replaces Europe\/Berlin of the first run/)
    expect(await sql`select digest from moved_rows where table_name = 'move'`).toEqual([
      { digest: 'Europe/Berlin' },
    ])
    const { code, body } = await move(...withKey(), ...zone, '--correct-timezone')
    expect([code, body.error]).toEqual([0, undefined])
    expect(body.findings).toContainEqual(
      expect.objectContaining({ table: 'schedules', ids: [2], reason: expect.stringMatching(/also here/) }),
    )
    const schedules =
      await sql`select id, timezone, next_run_at at time zone 'Asia/Tokyo' as local from schedules order by id`
    expect(schedules.map((row) => [row.id, row.timezone])).toEqual([
      [1, 'Asia/Tokyo'],
      [2, 'Europe/Berlin'],
    ])
    expect(JSON.stringify(schedules[0]?.local)).toMatch(/T04:00:00/)
    // From now on it is the zone of each run.
    expect((await move(...withEnv())).body.error).toMatch(/--timezone Asia\/Tokyo/)
    const verified = await cli.json('import:verify', ...withKey(), ...zone)
    expect(verified.body.differences).toEqual([
      { table: 'schedules', id: 2, columns: expect.arrayContaining(['timezone']) },
    ])
  })

  it('is corrected of a move that was killed in the middle, too', async () => {
    const target = await createDatabase()
    const own = postgres(target.url, { max: 3, onnotice: () => undefined })
    const other = await openCommandLine({ DATABASE_URL: target.url })
    try {
      await other.script('scripts/migrate.ts')
      const words = ['import:pterodactyl', ...withKey()]
      for (const table of ['subusers', 'tasks'])
        await killAt(own, { table }, () => other.begin(...words, '--timezone', 'America/Lima'))
      const corrected = [...words, '--timezone', 'Asia/Tokyo', '--correct-timezone']
      await killAt(own, { table: 'tasks' }, () => other.begin(...corrected))
      expect(await own`select digest from moved_rows where table_name = 'move'`).toEqual([
        { digest: 'Asia/Tokyo' },
      ])
      expect((await other.json(...corrected)).code).toBe(0)
      expect(await own`select distinct timezone from schedules`).toEqual([{ timezone: 'Asia/Tokyo' }])
      const verified = await other.json('import:verify', ...withKey(), '--timezone', 'Asia/Tokyo')
      expect(verified).toMatchObject({ code: 0, body: { differences: [] } })
    } finally {
      await own.end()
      await other.remove()
      await target.drop()
    }
  })

  it('is not corrected without saying to which', async () => {
    const { code, stderr } = await cli.panel('import:pterodactyl', ...withKey(), '--correct-timezone')
    expect([code, stderr]).toEqual([2, expect.stringContaining('Use --correct-timezone with --timezone')])
  })
})
