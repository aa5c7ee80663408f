import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { createOldDatabase, type OldDatabase } from './old-database.ts'
import { appKeyText } from './old-panel.ts'

const hasServers = (await findPostgres('linked accounts that moved in')) && hasMysql

describe.skipIf(!hasServers)('linked accounts of Pelican', { timeout: 120_000 }, () => {
  let database: Awaited<ReturnType<typeof createDatabase>>
  let cli: CommandLine
  let old: OldDatabase
  let sql: postgres.Sql

  beforeAll(async () => {
    database = await createDatabase()
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
    cli = await openCommandLine({ DATABASE_URL: database.url })
    await cli.script('scripts/migrate.ts')
    old = await createOldDatabase('pelican')
  }, 120_000)
  afterAll(async () => {
    await sql?.end()
    await cli?.remove()
    await old?.drop()
    await database?.drop()
  })

  const link = (id: number, links: unknown) =>
    old.query(`update users set oauth = '${JSON.stringify(links)}' where id = ${id}`)
  const source = () => ['--database', old.url, '--app-key', appKeyText]
  async function move(...words: string[]) {
    const { code, body } = await cli.json('import:pelican', ...source(), ...words)
    expect(body.error).toBeUndefined()
    const found = body.findings.filter(({ table }: any) => table === 'identities')
    return {
      code,
      counted: body.tables.find(({ table }: any) => table === 'identities'),
      reasons: found.map(
        ({ what, count, ids, reason }: any) => `${what} ${count} (${ids}): ${reason}`,
      ) as string[],
    }
  }
  const stored = () =>
    sql`select user_id, provider, issuer, subject from identities order by provider, subject`
  const verify = () => cli.json('import:verify', ...source())

  it('move where this panel has the provider; the others are counted, with the reason', async () => {
    await link(5, { google: '109876543210987654321', github: 583_231, steam: '7656119', discord: null })
    await link(6, { discord: '80351110224678912', github: '583231', google: 'no number', steam: '7656120' })
    await sql`insert into users (uuid, username, email, first_name, last_name)
      values (gen_random_uuid(), 'here', 'here@roost.example', '', '')`
    const { code, counted, reasons } = await move()
    expect([code, counted]).toEqual([0, { table: 'identities', found: 3, movable: 3, written: 3 }])
    expect(await stored()).toEqual([
      { user_id: 6, provider: 'discord', issuer: 'https://discord.com', subject: '80351110224678912' },
      { user_id: 5, provider: 'github', issuer: 'https://github.com', subject: '583231' },
      {
        user_id: 5,
        provider: 'google',
        issuer: 'https://accounts.google.com',
        subject: '109876543210987654321',
      },
    ])
    expect(reasons.toSorted()).toEqual([
      'left out 1 (6): has an id of google that is none',
      'left out 1 (6): its account at github is linked to the user 5, too',
      'left out 2 (5,6): is of steam, which this panel does not know',
    ])
    expect(await verify()).toMatchObject({ code: 0, body: { differences: [] } })
    expect((await move()).counted.written).toBe(0)
  })

  it('of a later run follow, but for accounts that users linked here', async () => {
    const [own] = await sql`select id from users where username = 'here'`
    await sql`insert into identities (user_id, provider, issuer, subject, display_name)
      values (${own?.id}, 'google', 'https://accounts.google.com', '42', 'Me')`
    await link(5, { google: '43' })
    await link(6, { discord: '80351110224678912', github: '583231', google: '42' })
    const { code, reasons } = await move('--since')
    expect([code, reasons]).toEqual([
      0,
      ['left out 1 (6): its account at google is linked to a user of this panel'],
    ])
    expect((await stored()).map((row) => [row.user_id, row.provider, row.subject])).toEqual([
      [6, 'discord', '80351110224678912'],
      [6, 'github', '583231'],
      [own?.id, 'google', '42'],
      [5, 'google', '43'],
    ])
    expect(await verify()).toMatchObject({ code: 0, body: { differences: [] } })
  })
})
