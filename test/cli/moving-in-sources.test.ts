import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findKind, readSource } from '../../src/cli/move-in/read-source.ts'
import type { SourceRow } from '../../src/cli/move-in/spool.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { createOldDatabase, type OldDatabase, rowsOfDatabase } from './old-database.ts'
import { appKeyText } from './old-panel.ts'
import { laravelSchema, tablesOf } from './old-schema.ts'

const hasServers = (await findPostgres('moving in from PostgreSQL and SQLite')) && hasMysql

let cli: CommandLine
let database: Awaited<ReturnType<typeof createDatabase>>
let other: Awaited<ReturnType<typeof createDatabase>>
let sql: postgres.Sql
let old: OldDatabase
let rows: Record<string, SourceRow[]>

beforeAll(async () => {
  if (!hasServers) return
  ;[database, other] = await Promise.all([createDatabase(), createDatabase()])
  sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  cli = await openCommandLine({ DATABASE_URL: database.url })
  await cli.script('scripts/migrate.ts')
  old = await createOldDatabase('pelican')
  rows = (await rowsOfDatabase('pelican', { database: old.url })).rows
}, 120_000)
afterAll(async () => {
  await sql?.end()
  await cli?.remove()
  await old?.drop()
  await other?.drop()
  await database?.drop()
})

/** A text of JSON becomes what it says, where the column holds JSON. */
function withJson(table: string, row: SourceRow): Record<string, unknown> {
  const columns = tablesOf('pelican').find(({ name }) => name === table)?.columns ?? []
  const isJson = new Set(columns.filter(({ type }) => type === 'json').map(({ name }) => name))
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      isJson.has(name) && value !== null ? (JSON.parse(String(value)) as unknown) : value,
    ]),
  )
}

/** Each writes the rows of the Pelican in MariaDB as Laravel does, and returns the address. */
const copies = {
  postgres: async () => {
    const copy = postgres(other.url, { max: 1, onnotice: () => undefined })
    await copy.unsafe('create schema pelican')
    await copy.unsafe('set search_path = pelican')
    for (const statement of laravelSchema('pelican', 'postgres')) await copy.unsafe(statement)
    for (const [table, list] of Object.entries(rows))
      await copy.unsafe(
        `insert into "${table}" select * from json_populate_recordset(null::"${table}", $1)`,
        [list.map((row) => withJson(table, row)) as never],
      )
    await copy.end()
    return `${other.url}?options=-c%20search_path%3Dpelican`
  },
  sqlite: async () => {
    const path = join(cli.directory, 'pelican.sqlite')
    const copy = new DatabaseSync(path)
    for (const statement of laravelSchema('pelican', 'sqlite')) copy.exec(statement)
    for (const [table, list] of Object.entries(rows))
      for (const row of list) {
        const names = Object.keys(row)
        const [columns, marks] = [names.map((name) => `"${name}"`), names.map(() => '?')]
        const statement = `insert into "${table}" (${columns.join()}) values (${marks.join()})`
        copy.prepare(statement).run(...Object.values(row))
      }
    copy.close()
    return `sqlite:${path}`
  },
}

describe.skipIf(!hasServers).each(['postgres', 'sqlite'] as const)('moving in from Pelican on %s', (kind) => {
  let address: string
  const move = () => cli.json('import:pelican', '--database', address, '--app-key', appKeyText)
  const verify = (source: string) => cli.json('import:verify', '--database', source, '--app-key', appKeyText)

  beforeAll(async () => {
    address = await copies[kind]()
    await sql`truncate users, roles, locations, nodes, nests, mounts, database_hosts, servers, moved_rows cascade`
  }, 60_000)

  it('reads the rows that MariaDB gives', async () => {
    expect((await rowsOfDatabase('pelican', { database: address })).rows).toEqual(rows)
  })

  it('reads dates in the time zone of the old panel', async () => {
    const spool = await readSource({ kind: 'pelican', database: address, timezone: 'Europe/Berlin' })
    for await (const [server] of spool.batches('servers', 1))
      expect(server?.created_at).toBe('2024-03-01 09:00:00')
    await spool.remove()
  })

  it('moves, changes nothing there, and finds everything equal', { timeout: 60_000 }, async () => {
    const before = kind === 'sqlite' ? await readFile(address.replace('sqlite:', '')) : null
    const { code, body } = await move()
    expect({ code, error: body.error }).toEqual({ code: 0 })
    expect(body.tables).toContainEqual({ table: 'servers', found: 4, movable: 2, written: 2 })
    for (const source of [address, old.url])
      expect(await verify(source)).toMatchObject({ code: 0, body: { differences: [] } })
    if (before) expect(before.equals(await readFile(address.replace('sqlite:', '')))).toBe(true)
    expect(await sql`select variables from servers where id = 30`).toEqual([
      { variables: { JAR: 'grün 🎲.jar' } },
    ])
  })

  it('is refused for Pterodactyl, which has MySQL only', async () => {
    const { code, stderr } = await cli.panel(
      'import:pterodactyl',
      '--database',
      address,
      '--app-key',
      appKeyText,
    )
    expect(code).toBe(1)
    expect(stderr).toContain('not one of Pterodactyl: mysql://')
  })
})

describe('a source that cannot be read', () => {
  it.each<[string, string, RegExp]>([
    ['a file that is not there', 'sqlite:/nowhere/panel.sqlite', /nowhere\/panel\.sqlite is not there/],
    [
      'a file that is no database',
      `sqlite:${import.meta.filename}`,
      /cannot be read: file is not a database/,
    ],
    ['another kind', 'oracle://host/panel', /not one that can be read/],
  ])('is refused: %s', async (_, address, reason) => {
    await expect(readSource({ kind: 'pelican', database: address, timezone: 'UTC' })).rejects.toThrow(reason)
  })

  it('is no panel without servers', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roost-sources-'))
    const path = join(folder, 'shop.sqlite')
    const shop = new DatabaseSync(path)
    shop.exec('create table users (id integer)')
    shop.close()
    const found = findKind({ database: `sqlite:${path}`, timezone: 'UTC' })
    await expect(found).rejects.toThrow('neither a Pterodactyl nor a Pelican')
    await rm(folder, { recursive: true })
  })
})
