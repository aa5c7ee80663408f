import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { copyToPostgres, copyToSqlite } from './old-copies.ts'
import { createOldDatabase, type OldDatabase, rowsOfDatabase } from './old-database.ts'
import { appKeyText } from './old-panel.ts'
import type { OldVersion } from './old-schema.ts'

const hasServers = (await findPostgres('unknown columns')) && hasMysql
const versions: OldVersion[] = ['1.7', '1.11', '1.12', 'pelican']

let cli: CommandLine
let database: Awaited<ReturnType<typeof createDatabase>>
let sql: postgres.Sql

beforeAll(async () => {
  if (!hasServers) return
  database = await createDatabase()
  sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  cli = await openCommandLine({ DATABASE_URL: database.url })
  await cli.script('scripts/migrate.ts')
}, 120_000)
afterAll(async () => {
  await sql?.end()
  await cli?.remove()
  await database?.drop()
})

const move = (version: OldVersion, ...source: string[]) =>
  cli.json(`import:${version === 'pelican' ? 'pelican' : 'pterodactyl'}`, '--app-key', appKeyText, ...source)

/** Expects that a source is refused for columns, and that nothing of it was written. */
async function expectRefused(version: OldVersion, source: string[]): Promise<void> {
  const { code, body } = await move(version, ...source)
  expect(code).toBe(1)
  expect(body.error).toMatch(/servers\.plan \(1 rows\)/)
  expect(body.error).toMatch(/users\.credits \(2 rows\)/)
  expect(body.error).toMatch(/--ignore-columns (?=\S*servers\.plan)(?=\S*users\.credits)/)
  const [counts] =
    await sql`select (select count(*) from users)::int as users, (select count(*) from moved_rows)::int as moved`
  expect(counts).toEqual({ users: 0, moved: 0 })
}

describe.skipIf(!hasServers).each(versions)('columns that %s does not have, among others', (version) => {
  let old: OldDatabase
  let source: Record<'database' | 'dump', string[]>

  beforeAll(async () => {
    old = await createOldDatabase(version)
    await old.query('alter table servers add column plan varchar(20) not null default "free" after uuid')
    await old.query('alter table users add column credits int null after username')
    await old.query('alter table nodes add column unused int not null default 7 after name')
    const dump = join(cli.directory, `${version}.sql`)
    source = { database: ['--database', old.url], dump: ['--dump', dump] }
    await writeFile(join(cli.directory, `${version}-unused.sql`), await old.dump())
    await old.query('update servers set plan = "gold" where id = 30')
    await old.query('update users set credits = 0')
    await writeFile(dump, await old.dump())
  }, 120_000)
  afterAll(() => old?.drop())

  it('do not matter while each row has null or the default', { timeout: 60_000 }, async () => {
    const { code, body } = await move(
      version,
      '--dump',
      join(cli.directory, `${version}-unused.sql`),
      '--check',
    )
    expect([code, body.error]).toEqual([0, undefined])
  })

  it.each(['database', 'dump'] as const)(
    'are named and refused before anything is written, from a %s',
    { timeout: 60_000 },
    (kind) => expectRefused(version, source[kind]),
  )

  it('are left behind when asked, and the others keep their places', { timeout: 60_000 }, async () => {
    const words = ['--ignore-columns', 'servers.plan,users.credits', '--check']
    const [live, dump] = [
      await move(version, ...source.database, ...words),
      await move(version, ...source.dump, ...words),
    ]
    for (const { code, body } of [live, dump]) {
      expect([code, body.error]).toEqual([0, undefined])
      expect(body.ignored.toSorted((a: any, b: any) => (a.column < b.column ? -1 : 1))).toEqual([
        { column: 'servers.plan', rows: 1 },
        { column: 'users.credits', rows: 2 },
      ])
      expect(body.tables).toContainEqual({ table: 'servers', found: 4, movable: 2 })
    }
    const { rows } = await rowsOfDatabase(version, { dump: source.dump[1] ?? '' })
    expect(rows.users?.map(({ email }) => email)).toEqual(['ada@old.example', 'bob@old.example'])
    expect(rows.servers?.[0]).not.toHaveProperty('plan')
  })
})

describe.skipIf(!hasServers)('columns that Pelican does not have, in other databases', () => {
  let old: OldDatabase
  let other: Awaited<ReturnType<typeof createDatabase>>
  beforeAll(async () => {
    old = await createOldDatabase('pelican')
    other = await createDatabase()
  }, 120_000)
  afterAll(async () => {
    await old?.drop()
    await other?.drop()
  })

  const changes = [
    `alter table servers add column plan varchar(20) not null default 'free'`,
    `alter table users add column credits integer`,
    `update servers set plan = 'gold' where id = 30`,
    `update users set credits = 0`,
  ]

  it.each(['postgres', 'sqlite'] as const)(
    'are named and refused before anything is written, from %s',
    { timeout: 120_000 },
    async (kind) => {
      const { rows } = await rowsOfDatabase('pelican', { database: old.url })
      const path = join(cli.directory, 'columns.sqlite')
      const url = await (kind === 'postgres' ? copyToPostgres(other.url, rows) : copyToSqlite(path, rows))
      if (kind === 'postgres') {
        const copy = postgres(other.url, { max: 1, connection: { search_path: 'pelican' } })
        for (const statement of changes) await copy.unsafe(statement)
        await copy.end()
      } else {
        const copy = new DatabaseSync(path)
        for (const statement of changes) copy.exec(statement)
        copy.close()
      }
      await expectRefused('pelican', ['--database', url])
    },
  )
})
