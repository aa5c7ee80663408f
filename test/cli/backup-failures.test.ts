import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { canMount, mountDisk, unmountDisk } from '../support/memory-disk.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'

const hasPostgres = await findPostgres('backups that fail')
const execute = promisify(execFile)

/** A folder with the embedded database, and one archive of it. */
let embedded: CommandLine
let archive = ''
beforeAll(async () => {
  embedded = await openCommandLine()
  expect((await embedded.script('scripts/migrate.ts', ['--create'])).code).toBe(0)
  archive = join(embedded.directory, 'embedded.tar.zst')
  expect((await embedded.panel('backup:create', '--to', archive, '--with-keys')).code).toBe(0)
}, 120_000)
afterAll(() => embedded?.remove())

describe.skipIf(!canMount('backups onto a full disk'))(
  'a backup onto a disk that becomes full',
  { timeout: 60_000 },
  () => {
    let disk: string
    beforeEach(() => {
      // A mebibyte beyond what stays free for a database: less than the archive needs.
      disk = mountDisk(49)
    })
    afterEach(() => unmountDisk(disk))

    it('says so, and leaves neither a part of an archive nor a copy of the database', async () => {
      const before = await readdir(embedded.directory)
      const to = join(disk, 'backup.tar.zst')
      const { code, stdout, stderr } = await embedded.panel('backup:create', '--to', to)
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toContain(
        `The backup ${to} cannot be written: its disk is full. Make space, or name a file on another disk with --to. Nothing was left there.`,
      )
      expect(await readdir(disk)).toEqual([])
      expect(await readdir(embedded.directory)).toEqual(before)
    })

    it('that holds DATA_DIR itself changes nothing there when an archive is unpacked', async () => {
      const data = join(disk, 'data')
      mkdirSync(data, { mode: 0o700 })
      const cli = await openCommandLine({ DATA_DIR: data })
      const { code, stderr } = await cli.panel('backup:restore', archive)
      await cli.remove()
      expect([code, stderr]).toEqual([1, expect.stringMatching(/The disk of \S+ is (?:too )?full/)])
      expect(await readdir(data)).toEqual([])
    })
  },
)

describe.skipIf(!hasPostgres)('an archive of PostgreSQL', { timeout: 120_000 }, () => {
  let databases: Awaited<ReturnType<typeof createDatabase>>[] = []
  let from: CommandLine
  let to: CommandLine
  let file = ''
  const psql = (at: number, statement: string) =>
    execute('psql', ['-qAtc', statement, databases[at]?.url ?? '']).then(({ stdout }) => stdout.trim())

  beforeAll(async () => {
    databases = await Promise.all([createDatabase(), createDatabase()])
    for (const at of [0, 1]) await psql(at, 'drop schema if exists testing cascade')
    ;[from, to] = (await Promise.all(databases.map(({ url }) => openCommandLine({ DATABASE_URL: url })))) as [
      CommandLine,
      CommandLine,
    ]
    file = join(from.directory, 'postgres.tar.zst')
    // What an operator has beside the panel, and the other database has already.
    await psql(0, 'create schema reports; create table reports.daily (id int)')
    expect((await from.panel('user:create', '--email', 'ada@roost.example', '--username', 'ada')).code).toBe(
      0,
    )
    const made = await from.panel('backup:create', '--to', file, '--with-keys')
    expect(made).toMatchObject({ code: 0 })
    await psql(1, 'create schema reports')
    expect((await to.panel('user:create', '--email', 'bob@roost.example', '--username', 'bob')).code).toBe(0)
  }, 120_000)
  afterAll(async () => {
    await Promise.all([from, to].map((each) => each?.remove()))
    await Promise.all(databases.map(({ drop }) => drop()))
  })

  it('that pg_restore does not take leaves the old database, and says why', async () => {
    const before = await readdir(to.directory)
    const { code, stderr } = await to.panel('backup:restore', file, '--replace')
    expect(code).toBe(1)
    expect(stderr).toMatch(/pg_restore failed: .*schema "reports" already exists/s)
    expect(stderr).toContain('The database is what it was before.')
    expect(await psql(1, 'select username from users')).toBe('bob')
    expect(await psql(1, `select count(*) from pg_namespace where nspname = 'before_restore'`)).toBe('0')
    expect(
      await psql(1, `select extnamespace::regnamespace from pg_extension where extname = 'pg_trgm'`),
    ).toBe('public')
    expect(await readdir(to.directory)).toEqual(before)
    expect((await to.panel('doctor')).stdout).toMatch(/^ok +migrations/m)

    await psql(1, 'drop schema reports')
    expect((await to.panel('backup:restore', file, '--replace')).code).toBe(0)
    expect(await psql(1, 'select username from users')).toBe('ada')
  })

  it('is refused without a database, as one of the embedded database is with one; each says what to do', async () => {
    const empty = await openCommandLine()
    const alone = await empty.panel('backup:restore', file)
    expect([alone.code, alone.stderr]).toEqual([
      1,
      expect.stringContaining('The archive is of PostgreSQL: set DATABASE_URL to that of an empty database.'),
    ])
    expect(await readdir(empty.directory)).toEqual([])
    await empty.remove()
    const users = await psql(1, 'select count(*) from users')
    const other = await to.panel('backup:restore', archive, '--replace')
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringContaining('restore it without DATABASE_URL, then use database:move'),
    ])
    expect(await psql(1, 'select count(*) from users')).toBe(users)
  })
})
