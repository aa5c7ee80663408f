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
import { copyToPostgres, copyToSqlite } from './old-copies.ts'
import { createOldDatabase, type OldDatabase, rowsOfDatabase } from './old-database.ts'
import { appKeyText } from './old-panel.ts'

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

/** Each writes the rows of the Pelican in MariaDB as Laravel does, and returns the address. */
const copies = {
  postgres: () => copyToPostgres(other.url, rows),
  sqlite: () => copyToSqlite(join(cli.directory, 'pelican.sqlite'), rows),
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
