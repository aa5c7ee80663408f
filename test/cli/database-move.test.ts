import { chown, cp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Query } from '../../src/cli/database-move/schema.ts'
import { requireFitting } from '../../src/cli/database-move/target.ts'
import { rowsOf } from '../../src/db/database.ts'
import { openPglite } from '../../src/platform/local/pglite.ts'
import type { Bootstrap } from '../../src/platform/local/demo.ts'
import { takeMigrationLock } from '../../src/platform/postgres.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createEmptyDatabase, queryDatabase } from '../support/database.ts'
import { fillEmptyTables, textsOf } from '../support/every-table.ts'
import { makePanelFolder, type PanelFolder } from '../support/panel-folder.ts'
import { eventually, startProcess } from '../support/processes.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { createMore, type Seen, seenIn, signIn, usePanel } from './used-panel.ts'

const hasPostgres = await findPostgres('moves of the database')

type TargetDatabase = Awaited<ReturnType<typeof createEmptyDatabase>>

const opened: { drop: () => Promise<void> }[] = []
const emptyDatabase = async (options?: string): Promise<TargetDatabase> => {
  const database = await createEmptyDatabase(options)
  opened.push(database)
  return database
}

/** Names what is in the schema of the panel. */
const relationsOf = async (url: string) =>
  (await queryDatabase(url, `select relname from pg_class where relnamespace = 'public'::regnamespace`)).map(
    ({ relname }) => relname as string,
  )

/** Runs work over the embedded database of a folder, whose panel does not run. */
async function withEmbedded<T>(data: string, work: (query: Query) => Promise<T>): Promise<T> {
  const { db, close } = await openPglite(join(data, 'database'), undefined, { migrates: false })
  try {
    return await work(async (text) => rowsOf(await db.execute(sql.raw(text))))
  } finally {
    await close()
  }
}

describe.skipIf(!hasPostgres)('moving the embedded database', { timeout: 120_000 }, () => {
  let folder: PanelFolder
  let cli: CommandLine
  let bootstrap: Bootstrap
  let target: TargetDatabase
  /** What the panel answered before it was moved. */
  let before: Seen

  const move = (url: string, ...words: string[]) => cli.panel('database:move', '--to', url, ...words)
  const refusalOf = async (url: string, ...words: string[]) => {
    const { code, stdout, stderr } = await move(url, ...words)
    expect([code, stdout]).toEqual([1, ''])
    return stderr
  }

  beforeAll(async () => {
    folder = await makePanelFolder()
    target = await emptyDatabase()
    cli = await openCommandLine({ DATA_DIR: folder.data, DEMO: 'true' })
    const running = await cli.start()
    bootstrap = JSON.parse(await readFile(join(folder.data, 'bootstrap.json'), 'utf8')) as Bootstrap
    before = await usePanel(running, bootstrap)
    expect(await refusalOf(target.url)).toContain('is in use by process')
    expect(await running.stop()).toBe(0)
  }, 120_000)
  afterAll(async () => {
    await cli?.remove()
    await folder?.remove()
    await Promise.all(opened.map(({ drop }) => drop()))
  })

  it.each([
    ['no folder of a panel', { DATA_DIR: '/tmp/roost-nothing-here' }, 1, /no embedded database in/],
    ['no target', {}, 2, /Missing: --to, or DATABASE_URL/],
    ['a target that is no PostgreSQL', { to: 'mysql://localhost/panel' }, 2, /has to be a postgres:/],
    [
      'one that does not answer',
      { to: 'postgres://127.0.0.1:1/panel' },
      1,
      /cannot be opened: .*ECONNREFUSED/,
    ],
  ])(
    'is refused with %s',
    async (_name, { to, ...environment }: Record<string, string>, exitCode, problem) => {
      const other = await openCommandLine({ DATA_DIR: folder.data, ...environment })
      const words = to ? ['--to', to] : environment.DATA_DIR ? ['--to', target.url] : []
      const { code, stderr } = await other.panel('database:move', ...words)
      await other.remove()
      expect([code, stderr]).toEqual([exitCode, expect.stringMatching(problem)])
    },
  )

  it.each([
    ['has tables', '', 'create table orders (id integer)', /not empty: it has orders\. Create a database/],
    ['is read-only', '', 'alter database $name set default_transaction_read_only = on', /is read-only/],
    ['is not in UTF-8', `encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0`, '', /as LATIN1/],
  ])('is refused where the target %s', async (_name, options, statement, problem) => {
    const { url } = await emptyDatabase(options)
    if (statement) await queryDatabase(url, statement.replace('$name', new URL(url).pathname.slice(1)))
    const found = await relationsOf(url)
    expect(await refusalOf(url)).toMatch(problem)
    expect(await relationsOf(url)).toEqual(found)
  })

  it('is refused while a panel migrates the target', async () => {
    const client = new Client(target.url)
    await client.connect()
    await client.query('begin')
    expect(await takeMigrationLock(client)).toBe(true)
    expect(await refusalOf(target.url)).toContain('A panel starts on the target')
    await client.end()
  })

  it('is refused where PostgreSQL is too old for the panel', () => {
    const state = { version: '14.13', number: 140_013, encoding: 'UTF8', is_read_only: false }
    expect(() => requireFitting(state)).toThrow(
      'The target is PostgreSQL 14.13. The panel needs 15 or newer.',
    )
  })

  it.each([
    [
      'an older',
      'delete from migrations where id = (select max(id) from migrations)',
      /lacks migrations of version/,
    ],
    ['a newer', `insert into migrations (hash, created_at) values ('x', 9e15)`, /A newer version than/],
  ])('is refused with the schema of %s version', async (_name, statement, problem) => {
    const data = join(folder.path, 'other-version')
    await cp(folder.data, data, { recursive: true })
    await withEmbedded(data, (query) => query(statement))
    const other = await openCommandLine({ DATA_DIR: data })
    const { code, stderr } = await other.panel('database:move', '--to', target.url)
    await other.remove()
    await rm(data, { recursive: true })
    expect([code, stderr]).toEqual([1, expect.stringMatching(problem)])
    expect(await relationsOf(target.url)).toEqual([])
  })

  it.each([
    [
      'a row arrives changed',
      `new.short = 'other'`,
      /locations differs: 1 rows .* became 1 with .* Nothing was moved/,
    ],
    [
      'a row does not arrive',
      'new = null',
      /locations differs: 1 rows .* became 0 with .* Nothing was moved/,
    ],
    [
      'the connection is lost',
      'perform pg_terminate_backend(pg_backend_pid())',
      /locations cannot be moved: .*terminat/,
    ],
  ])('is refused when %s, and leaves nothing', async (_name, statement, problem) => {
    const { url } = await emptyDatabase()
    await onceCreated(url, 'locations', `begin ${statement}; return new; end`, 'row')
    expect(await refusalOf(url)).toMatch(problem)
    expect(await relationsOf(url)).toEqual([])
  })

  it('leaves an empty target when it is killed, and works when it is repeated', async () => {
    const { url } = await emptyDatabase()
    await onceCreated(url, 'users', 'begin perform pg_advisory_xact_lock(1); return null; end', 'statement')
    const client = postgres(url, { max: 1, onnotice: () => undefined })
    await client`select pg_advisory_lock(1)`
    const running = await startProcess('src/cli/start.js', {
      args: ['database:move', '--to', url],
      env: { DATA_DIR: folder.data },
      ready: /settings: \d+ rows copied and compared/,
    })
    const others = () =>
      client`select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    await eventually(async () => (await client`select from pg_locks where not granted`).length > 0)
    await running.kill()
    await client`select pg_advisory_unlock(1)`
    await eventually(async () => (await others()).length === 0)
    await client.unsafe('drop event trigger on_create')
    await client.end()
    expect(await relationsOf(url)).toEqual([])
    expect((await move(url)).code).toBe(0)
  })

  it('is tried by --check, which leaves nothing', async () => {
    const { code, stdout } = await move(target.url, '--check')
    expect([code, stdout]).toEqual([0, expect.stringContaining('Nothing was: repeat without --check')])
    expect(await relationsOf(target.url)).toEqual([])
  })

  it.skipIf(process.getuid?.() !== 0)(
    'leaves the files to the account of the panel, when root moves it or runs another verb',
    async () => {
      const data = join(folder.path, 'of-a-service')
      await cp(folder.data, data, { recursive: true })
      for (const name of ['', ...(await readdir(data, { recursive: true }))])
        await chown(join(data, name), 65_534, 65_534)
      const other = await openCommandLine({ DATA_DIR: data, DATABASE_URL: target.url })
      expect((await other.panel('database:move', '--check')).code).toBe(0)
      await other.remove()
      const foreign = async () => {
        const names = await readdir(data, { recursive: true })
        const owners = await Promise.all(
          names.map(async (name) => [name, (await stat(join(data, name))).uid]),
        )
        return owners.filter(([, uid]) => uid !== 65_534)
      }
      expect(await foreign()).toEqual([])
      const embedded = await openCommandLine({ DATA_DIR: data })
      for (const words of [['key:create', '--user', 'admin', '--type', 'application'], ['backup:create']]) {
        const { code, stderr } = await embedded.panel(...words)
        expect([code, stderr]).toEqual([0, `Database: embedded, in ${data}\n`])
        expect(await foreign()).toEqual([])
      }
      expect((await embedded.script('scripts/migrate.ts')).code).toBe(0)
      await embedded.remove()
      expect(await foreign()).toEqual([])
      await rm(data, { recursive: true })
    },
  )

  it('is done once, and the panel then has everything in PostgreSQL', async () => {
    const { code, body } = await cli.json('database:move', '--to', target.url)
    expect(code).toBe(0)
    expect(body).toMatchObject({ moved: true, rows: expect.any(Number) })
    expect(body.tables.find((each: any) => each.table === 'users')).toMatchObject({ rows: 2 })
    expect(await refusalOf(target.url)).toMatch(/not empty: .* was moved here already: then set DATABASE_URL/)
    const moved = await openCommandLine({ DATA_DIR: folder.data, DEMO: 'true', DATABASE_URL: target.url })
    const running = await moved.start()
    try {
      expect(await seenIn(running, bootstrap)).toEqual(before)
      expect(await signIn(running, bootstrap)).toBe(200)
      expect(await createMore(running, bootstrap)).toEqual({ location: 2, server: bootstrap.server.id + 1 })
    } finally {
      expect(await running.stop()).toBe(0)
      await moved.remove()
    }
  })

  it('leaves the embedded database as it was: the way back', async () => {
    const running = await cli.start()
    expect(await seenIn(running, bootstrap)).toEqual(before)
    await running.stop()
  })

  it('moves a row of every table, and every counter, unchanged', async () => {
    const { url } = await emptyDatabase()
    await withEmbedded(folder.data, fillEmptyTables)
    const { code, body } = await cli.json('database:move', '--to', url)
    expect(body.error).toBeUndefined()
    expect(code).toBe(0)
    // The partitions of months without an entry.
    for (const { table, rows } of body.tables) if (rows === 0) expect(table).toMatch(/^activity_\d/)
    const there = await withEmbedded(folder.data, textsOf)
    const client = postgres(url, { max: 1, onnotice: () => undefined })
    const here = await textsOf(async (text) => (await client.unsafe(text)) as never)
    await client.end()
    expect(there.length).toBeGreaterThan(60)
    expect(here).toEqual(there)
  })
})

/** Lets a target run code once it has a table: for each inserted row, or before each statement that inserts. */
async function onceCreated(url: string, table: string, code: string, each: 'row' | 'statement') {
  await queryDatabase(url, 'create schema testing')
  await queryDatabase(url, `create function testing.act() returns trigger language plpgsql as $$ ${code} $$`)
  await queryDatabase(
    url,
    `create function testing.on_create() returns event_trigger language plpgsql as $$ begin
      if exists (select from pg_event_trigger_ddl_commands() where object_identity = 'public.${table}') then
        create trigger act before insert on public.${table} for each ${each} execute function testing.act();
      end if; end $$`,
  )
  await queryDatabase(
    url,
    `create event trigger on_create on ddl_command_end when tag in ('CREATE TABLE') execute function testing.on_create()`,
  )
}
