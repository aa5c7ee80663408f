import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import {
  appKeyText,
  createOldPanel,
  encryptAsOldPanel,
  known,
  type OldKind,
  type OldPanel,
} from './old-panel.ts'

const hasPostgres = await findPostgres('moving in again')

const kinds: OldKind[] = ['pterodactyl', 'pelican']

describe.skipIf(!hasPostgres || !hasMysql).each(kinds)('moving in again from %s', (kind) => {
  let cli: CommandLine
  let database: Awaited<ReturnType<typeof createDatabase>>
  let old: OldPanel
  let sql: postgres.Sql

  beforeAll(async () => {
    database = await createDatabase()
    old = await createOldPanel(kind)
    sql = postgres(database.url, { max: 3, onnotice: () => undefined })
    cli = await openCommandLine({ DATABASE_URL: database.url })
    await cli.script('scripts/migrate.ts')
  }, 120_000)
  afterAll(async () => {
    await sql?.end()
    await cli?.remove()
    await old?.drop()
    await database?.drop()
  })

  const source = () => ['--database', old.url, '--app-key', appKeyText]
  const words = () => [`import:${kind}`, ...source()]
  const differences = async () => (await cli.json('import:verify', ...source())).body.differences
  const run = async (...more: string[]) => {
    const { code, body } = await cli.json(...words(), ...more)
    const reasons = (body.findings ?? []).map(({ table, ids, reason }: any) => `${table} ${ids}: ${reason}`)
    const written = (body.tables ?? []).filter((row: any) => row.written > 0)
    return { code, body, reasons, written: written.map((row: any) => `${row.table} ${row.written}`) }
  }
  const count = async (table: string) =>
    Number((await sql.unsafe(`select count(*) as n from ${table}`))[0]?.n)

  it('has every row that can move after one run', { timeout: 60_000 }, async () => {
    const { code, body } = await run()
    expect(code).toBe(0)
    for (const row of body.tables)
      expect([row.table, await count(row.table)]).toEqual([row.table, row.movable])
    expect(await differences()).toEqual([])
  })

  it('carries over what changed, came and went there, with --since alone', { timeout: 60_000 }, async () => {
    await old.query("update servers set memory = 4096, name = 'Renamed' where id = 30")
    await old.query(`update \`databases\` set password = '${encryptAsOldPanel(kind, 'new secret')}'`)
    await old.query('delete from subusers where id = 1')
    await old.query(
      'insert into subusers (id, user_id, server_id, permissions) values (2, 5, 31, \'["file.read"]\')',
    )
    const without = await run()
    expect(without.written).toEqual(['subusers 1'])
    expect(without.reasons).toContain('servers 30: changed there since it moved: --since carries it over')
    const { code, body, written } = await run('--since')
    expect(body.error).toBeUndefined()
    expect([code, written, body.removed]).toEqual([0, ['servers 1', 'databases 1'], { subusers: 1 }])
    expect(await sql`select memory, name from servers where id = 30`).toEqual([
      { memory: 4096, name: 'Renamed' },
    ])
    expect(await sql`select used_memory::int from nodes`).toEqual([{ used_memory: 5120 }])
    expect(await sql`select id from subusers`).toEqual([{ id: 2 }])
    expect(await differences()).toEqual([])
    expect((await run('--since')).written).toEqual([])
  })

  it('keeps and names what changed or was deleted here meanwhile', { timeout: 60_000 }, async () => {
    await sql`update servers set name = 'Mine' where id = 30`
    await sql`delete from ssh_keys`
    await sql`delete from api_keys where identifier = ${known.clientKey.slice(0, 16)}`
    await old.query("update servers set name = 'Theirs' where id = 30")
    await old.query("update user_ssh_keys set name = 'Other' where id = 1")
    const { code, body, written, reasons } = await run('--since')
    expect(body.error).toBeUndefined()
    expect([code, written]).toEqual([0, []])
    expect(reasons).toEqual(
      expect.arrayContaining([
        'servers 30: changed there, but also here since it moved: what is here stays',
        'user_ssh_keys 1: changed there, but was deleted here since it moved',
      ]),
    )
    expect(await sql`select name from servers where id = 30`).toEqual([{ name: 'Mine' }])
    expect([await count('ssh_keys'), await count('api_keys')]).toEqual([0, 1])
  })

  it('keeps and names what is gone there and needed here', { timeout: 60_000 }, async () => {
    await sql`insert into subusers (user_id, server_id, permissions) values (6, 30, '{}')`
    await sql`update servers set owner_id = 5`
    await old.query('delete from nodes where id = 7')
    await old.query('delete from allocations where node_id = 7')
    const { code, reasons } = await run('--since')
    expect(code).toBe(0)
    expect(reasons).toContainEqual(expect.stringMatching(/^nodes 7: is gone there, but is needed here: /))
    expect(await count('nodes')).toBe(1)
  })

  it('tells how far it is, on standard error', async () => {
    const child = cli.begin(...words(), '--json')
    const [lines] = await Promise.all([text(child.stderr), text(child.stdout), once(child, 'close')])
    const told = lines
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line).progress] : []))
    expect(told.map(({ phase }) => phase)).toContain('servers, allocations')
    expect(told.at(-1)).toMatchObject({ total: expect.any(Number), rowsPerSecond: expect.any(Number) })
  })

  it('gives new rows what others gave up, and exchanges values', { timeout: 120_000 }, async () => {
    const password = 'x'
    const add = (id: number, name: string) =>
      old.query(
        `insert into users (id, uuid, username, email, password) values
          (${id}, 'a00000${id}-0000-4000-8000-000000000000', '${name}', '${name}@old.example', '${password}')`,
      )
    const rename = (id: number, name: string) =>
      old.query(`update users set username = '${name}', email = '${name}@old.example' where id = ${id}`)
    const names = async () =>
      Object.fromEntries(
        (await sql`select id, username from users order by id`).map((row) => [row.id, row.username]),
      )
    await rename(6, 'zoe')
    await add(60, 'bob')
    expect((await run()).body.issues).toEqual([
      {
        field: 'users',
        problem: '60: its username is used by row 6 of this panel, which moved: --since makes room',
      },
      {
        field: 'users',
        problem: '60: its email is used by row 6 of this panel, which moved: --since makes room',
      },
    ])
    expect((await run('--since')).written).toContain('users 2')
    expect(await names()).toEqual({ 5: 'ada', 6: 'zoe', 60: 'bob' })
    await rename(60, 'between')
    await rename(6, 'bob')
    await rename(60, 'zoe')
    await add(61, 'carl')
    expect((await run('--since')).written).toContain('users 3')
    expect(await names()).toEqual({ 5: 'ada', 6: 'bob', 60: 'zoe', 61: 'carl' })
    await old.query('delete from users where id = 61')
    await add(62, 'carl')
    const { body, written } = await run('--since')
    expect([written, body.removed]).toEqual([['users 1'], { users: 1 }])
    // Of one that has the name here only, nothing is written, and it is named.
    await sql`update users set username = 'dora' where id = 60`
    await add(63, 'dora')
    expect((await run('--since')).reasons).toContain(
      'users 63: cannot be written here: another row here has its values',
    )
    expect(await names()).toEqual({ 5: 'ada', 6: 'bob', 60: 'dora', 62: 'carl' })
  })
})
