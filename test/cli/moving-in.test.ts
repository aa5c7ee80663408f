import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { codesOf } from '../support/totp-codes.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import {
  appKeyText,
  createOldPanel,
  known,
  type OldKind,
  type OldPanel,
  encryptAsOldPanel,
} from './old-panel.ts'
import { openPanelBrowser, signIn } from './sign-in.ts'

const hasPostgres = await findPostgres('moving in')

describe.skipIf(!hasPostgres || !hasMysql).each<OldKind>(['pterodactyl', 'pelican'])(
  'moving in from %s',
  (kind) => {
    let cli: CommandLine
    let database: Awaited<ReturnType<typeof createDatabase>>
    let old: OldPanel
    let sql: postgres.Sql

    beforeAll(async () => {
      database = await createDatabase()
      old = await createOldPanel(kind)
      sql = postgres(database.url, { max: 1, onnotice: () => undefined })
      cli = await openCommandLine({ DATABASE_URL: database.url })
      await cli.script('scripts/migrate.ts')
    }, 120_000)
    afterAll(async () => {
      await sql?.end()
      await cli?.remove()
      await old?.drop()
      await database?.drop()
    })

    const run = (...words: string[]) => call(`import:${kind}`, ...words)
    const verify = () => call('import:verify')
    const call = (verb: string, ...words: string[]) =>
      cli.json(verb, '--database', old.url, '--app-key', appKeyText, '--timezone', 'Europe/Berlin', ...words)
    const count = async (table: string) =>
      Number((await sql.unsafe(`select count(*) as n from ${table}`))[0]?.n)

    it('reports what would come and what cannot, and writes nothing', async () => {
      const { code, body } = await run('--check')
      expect(code).toBe(0)
      expect(body.unknownTables).toEqual(['store_plugin'])
      expect(body.tables).toContainEqual({ table: 'servers', found: 4, movable: 2 })
      const reasons = body.findings.map(
        ({ table, what, ids, reason }: any) => `${what} ${table} ${ids}: ${reason}`,
      )
      expect(reasons).toEqual(
        expect.arrayContaining([
          'left out servers 32: has no primary allocation of its own',
          'left out servers 33: owner_id names a row of users that is not moved',
          'left out allocations 43: node_id names a row of nodes that is not moved',
          'left out api_keys 3: has no identifier of 16 characters, so it worked no more',
          'left out backups 2: was not complete',
          'changed subusers 1: loses plugin.special, which this panel does not have',
        ]),
      )
      expect(await count('users')).toBe(0)
    })

    it.each([
      [
        'another key',
        ['--app-key', `base64:${Buffer.alloc(32).toString('base64')}`],
        /has another key than APP_KEY/,
      ],
      ['a key of another length', ['--app-key', 'short'], /An APP_KEY has 32 bytes/],
    ])('refuses %s before it writes', async (_, words, reason) => {
      const { code, body } = await run(...words)
      expect(code).toBe(1)
      expect(JSON.stringify(body)).toMatch(reason)
      expect(await count('users')).toBe(0)
    })

    it('refuses the database of the other panel', async () => {
      const other = kind === 'pelican' ? 'pterodactyl' : 'pelican'
      const { code, stderr } = await cli.panel(
        `import:${other}`,
        '--database',
        old.url,
        '--app-key',
        appKeyText,
      )
      expect(code).toBe(1)
      expect(stderr).toContain(`This is the database of ${kind}: use import:${kind}.`)
    })

    it.each([
      [
        'a torn secret',
        "update nodes set daemon_token = 'torn'",
        /7: daemon_token is not an encrypted value, or is torn/,
      ],
      [
        'addresses that differ in case',
        "update users set email = 'ADA@old.example' where id = 6",
        /6: has the email of row 5/,
      ],
      [
        'a schema without a column',
        'alter table schedules rename column cron_hour to hours',
        /lacks: schedules.cron_hour/,
      ],
    ])('refuses %s, with its table and id', async (_, statement, reason) => {
      await old.query(statement)
      const { code, body } = await run()
      await old.query(`update nodes set daemon_token = '${encryptAsOldPanel(kind, known.node.secret)}'`)
      await old.query("update users set email = 'bob@old.example' where id = 6")
      if (statement.startsWith('alter'))
        await old.query('alter table schedules rename column hours to cron_hour')
      expect(code).toBe(1)
      expect(JSON.stringify(body)).toMatch(reason)
      expect(await count('users')).toBe(0)
    })

    it('refuses a name that another account of this panel has', async () => {
      await sql`insert into users (username, email, first_name, last_name) values ('ada', 'x@y.example', 'A', 'B')`
      const { body } = await run()
      await sql`delete from users`
      expect(JSON.stringify(body)).toContain('its username is used by row 1 of this panel')
    })

    it('goes on after a run that ended between two phases', async () => {
      // The first phase only: the second finds a table that it cannot write.
      await sql`alter table nodes add constraint forbidden check (id < 0)`
      expect((await run()).code).toBe(1)
      await sql`alter table nodes drop constraint forbidden`
      expect([await count('users'), await count('nodes'), await count('locations')]).toEqual([2, 0, 0])
      const { code, body } = await run()
      expect(code).toBe(0)
      expect(body.tables).toContainEqual({ table: 'users', found: 2, movable: 2, written: 0 })
      expect(body.tables).toContainEqual({ table: 'servers', found: 4, movable: 2, written: 2 })
    })

    it('changes nothing when it is repeated, and finds everything equal', async () => {
      const { body } = await run()
      expect(body.tables.filter(({ written }: any) => written > 0)).toEqual([])
      expect(await verify()).toMatchObject({ code: 0, body: { differences: [] } })
    })

    it('finds what differs', async () => {
      await sql`update servers set memory = 1 where id = 30`
      expect(await verify()).toMatchObject({
        code: 1,
        body: { differences: [{ table: 'servers', id: 30, columns: ['memory'] }] },
      })
      await sql`update servers set memory = 1024 where id = 30`
    })

    it('keeps what is not shown over the wire', async () => {
      const [schedule] = await sql`select timezone, next_run_at > now() as later from schedules`
      expect(schedule).toEqual({ timezone: 'Europe/Berlin', later: true })
      expect(await sql`select used_memory::int, used_disk::int from nodes`).toEqual([
        { used_memory: 2048, used_disk: 4096 },
      ])
      expect(await sql`select variables from servers where id = 30`).toEqual([
        { variables: { JAR: 'grün 🎲.jar' } },
      ])
      expect(await sql`select config_from from eggs where id = 22`).toEqual([{ config_from: 21 }])
      expect(await sql`select disk, bytes::text from backups`).toEqual([{ disk: 's3', bytes: '5000000000' }])
      expect([await count('egg_mount'), await count('mount_node'), await count('mount_server')]).toEqual([
        1, 1, 1,
      ])
      const [added] = await sql`insert into locations (short) values ('new') returning id`
      expect(added?.id).toBe(kind === 'pelican' ? 2 : 4)
    })

    it('lets keys, daemons and users in as before', { timeout: 60_000 }, async () => {
      const running = await cli.start()
      try {
        const get = async (path: string, token: string) => {
          const answer = await fetch(`${running.url}${path}`, {
            headers: { authorization: `Bearer ${token}` },
          })
          return { status: answer.status, body: (await answer.json()) as any }
        }
        const listed = await get('/api/client', known.clientKey)
        expect(listed.status).toBe(200)
        expect(listed.body.data.map((item: any) => item.attributes.uuid)).toContain(known.serverUuid)
        expect((await get('/api/application/servers/30', known.applicationKey)).body.attributes.uuid).toBe(
          known.serverUuid,
        )
        const booted = await get('/api/remote/servers', `${known.node.id}.${known.node.secret}`)
        expect(booted.body.data.map((item: any) => item.uuid)).toContain(known.serverUuid)
        expect(await accountOf(running.url)).toMatchObject({ username: 'ada', email: 'ada@old.example' })
      } finally {
        await running.stop()
      }
    })
  },
)

/** Signs in with the old password and a code of the old authenticator; returns the account. */
async function accountOf(url: string): Promise<any> {
  const browser = await openPanelBrowser(url)
  const code = await codesOf(known.totpSecret)()
  const { status } = await signIn(browser, 'ada', known.password, { authentication_code: code })
  expect(status).toBe(200)
  return (await browser.call('/api/client/account')).body.attributes
}
