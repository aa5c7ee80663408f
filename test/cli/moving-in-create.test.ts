import { readdir } from 'node:fs/promises'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { appKeyText, createOldPanel, type OldPanel } from './old-panel.ts'

const hasServers = (await findPostgres('moving in with --create')) && hasMysql

describe.skipIf(!hasServers)('moving in with --create', () => {
  let old: OldPanel
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>
  let cli: CommandLine

  beforeAll(async () => {
    old = await createOldPanel('pterodactyl')
  }, 60_000)
  afterAll(() => old?.drop())
  beforeEach(async () => {
    database = await createEmptyDatabase()
    cli = await openCommandLine({ DATABASE_URL: database.url })
  })
  afterEach(async () => {
    await cli.remove()
    await database.drop()
  })

  const source = () => ['--database', old.url, '--app-key', appKeyText]
  const move = (...words: string[]) => cli.json('import:pterodactyl', ...source(), ...words)
  const query = async (statement: string, url = database.url) => {
    const sql = postgres(url, { max: 1, onnotice: () => undefined })
    try {
      return [...(await sql.unsafe(statement))]
    } finally {
      await sql.end()
    }
  }
  const tables = () =>
    query("select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'")
  const expectMoved = async () => {
    expect(await cli.json('import:verify', ...source())).toMatchObject({ code: 0, body: { differences: [] } })
  }

  it('moves into PostgreSQL without tables, and again', { timeout: 120_000 }, async () => {
    const { code, body } = await move('--create')
    expect({ code, error: body.error }).toEqual({ code: 0 })
    expect(body.tables).toContainEqual({ table: 'servers', found: 4, movable: 2, written: 2 })
    await expectMoved()
    const again = await move('--create')
    expect(again.code).toBe(0)
    expect(again.body.tables.filter(({ written }: any) => written > 0)).toEqual([])
  })

  it('creates the database that DATABASE_URL names', { timeout: 120_000 }, async () => {
    const address = database.url
    await database.drop()
    const refused = await move()
    expect(refused).toMatchObject({ code: 1, body: { error: expect.stringContaining('--create') } })
    await expect(query('select 1', address)).rejects.toThrow('does not exist')
    expect((await move('--create')).code).toBe(0)
    await expectMoved()
  })

  it('creates the embedded database', { timeout: 120_000 }, async () => {
    const embedded = await openCommandLine()
    try {
      const words = ['import:pterodactyl', ...source()]
      expect(await embedded.json(...words)).toMatchObject({
        code: 1,
        body: { error: expect.stringContaining('--create') },
      })
      expect(await readdir(embedded.directory)).toEqual([])
      const { code, body } = await embedded.json(...words, '--create')
      expect({ code, error: body.error }).toEqual({ code: 0 })
      expect(await embedded.json('import:verify', ...source())).toMatchObject({
        code: 0,
        body: { differences: [] },
      })
    } finally {
      await embedded.remove()
    }
  })

  it('prepares for --check, which moves nothing', { timeout: 60_000 }, async () => {
    expect((await move('--create', '--check')).code).toBe(0)
    expect(await query('select id from users')).toEqual([])
  })

  it('refuses tables that are missing, and names both ways to make them', async () => {
    const { code, body } = await move('--check')
    expect(code).toBe(1)
    expect(body.error).toMatch(/has no tables of the panel\. Repeat with --create, or run npm run migrate/)
    expect(await tables()).toEqual([])
  })

  it.each<[string, string]>([
    ['tables of something else', 'create table shop_orders (id int)'],
    ['tables of Laravel', 'create table migrations (id int, migration text, batch int)'],
    ['a view', 'create view totals as select 1 as sum'],
  ])('refuses %s, and leaves them as they are', async (_, statement) => {
    await query(statement)
    const before = await tables()
    for (const words of [[], ['--create']]) {
      const { code, body } = await move(...words)
      expect(code).toBe(1)
      expect(body.error).toMatch(/tables of something else: (?:shop_orders|migrations|totals)\./)
    }
    expect(await tables()).toEqual(before)
  })

  it('refuses a server that cannot be reached', { timeout: 60_000 }, async () => {
    const nowhere = await openCommandLine({ DATABASE_URL: 'postgres://panel@127.0.0.1:9/panel' })
    const { code, body } = await nowhere.json('import:pterodactyl', ...source(), '--create')
    await nowhere.remove()
    expect({ code, error: body.error }).toEqual({
      code: 1,
      error: expect.stringContaining('cannot be opened'),
    })
  })
})
