import { existsSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SourceRow } from '../../src/cli/move-in/spool.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { addToPostgres, addToSqlite, copyToPostgres, copyToSqlite } from './old-copies.ts'
import { createOldDatabase, type OldDatabase, rowsOfDatabase } from './old-database.ts'

const hasServers = (await findPostgres('sources that change while they are read')) && hasMysql

describe.skipIf(!hasServers)('a source that changes while it is read', () => {
  let old: OldDatabase
  let database: Awaited<ReturnType<typeof createDatabase>>
  let rows: Record<string, SourceRow[]>
  let folder: string

  beforeAll(async () => {
    ;[database, old] = await Promise.all([createDatabase(), createOldDatabase('pelican')])
    rows = (await rowsOfDatabase('pelican', { database: old.url })).rows
    folder = await mkdtemp(join(tmpdir(), 'roost-snapshots-'))
  }, 120_000)
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true })
    await old?.drop()
    await database?.drop()
  })

  /** An account and its server, which are written together. */
  const pair = (id: number): [string, SourceRow][] => [
    ['users', { ...rows.users?.[0], id, uuid: uuidOf(id), username: `u${id}`, email: `u${id}@old.example` }],
    [
      'servers',
      {
        ...rows.servers?.[0],
        id,
        uuid: uuidOf(id),
        uuid_short: String(id),
        owner_id: id,
        allocation_id: null,
      },
    ],
  ]
  const uuidOf = (id: number) => `b${String(id).padStart(7, '0')}-0000-4000-8000-000000000000`
  const read = async (address: string) => (await rowsOfDatabase('pelican', { database: address })).rows
  const idsOf = (found: Record<string, SourceRow[]>, table: string) =>
    (found[table] ?? []).map(({ id }) => Number(id)).filter((id) => id >= 1000)

  it('is read as it was at the beginning: PostgreSQL', { timeout: 60_000 }, async () => {
    const address = await copyToPostgres(database.url, rows)
    const sql = postgres(database.url, { max: 2, onnotice: () => undefined })
    const reading = await sql.begin(async (held) => {
      await held.unsafe('set local search_path = pelican')
      await held.unsafe('lock table servers in access exclusive mode')
      const begun = read(address)
      const waits = async () =>
        (await sql`select 1 from pg_locks where relation = 'pelican.servers'::regclass and not granted`)
          .length
      await expect.poll(waits, { timeout: 30_000, interval: 20 }).toBe(1)
      for (const [table, row] of pair(1000))
        await addToPostgres(held as unknown as postgres.Sql, table, [row])
      return { begun }
    })
    const found = await reading.begun
    expect([idsOf(found, 'users'), idsOf(found, 'servers')]).toEqual([[], []])
    const later = await read(address)
    expect([idsOf(later, 'users'), idsOf(later, 'servers')]).toEqual([[1000], [1000]])
    await sql.end()
  })

  it('is read as it was at the beginning: MariaDB', { timeout: 60_000 }, async () => {
    await old.query('lock tables servers write, users write, mounts write')
    await old.query('unlock tables')
    await old.query('lock tables servers write')
    const begun = read(old.url)
    const waits = async () => {
      const [found] = (await old.query('show full processlist')) as [{ db: string; State: string }[]]
      return found.some(({ db, State }) => db === old.name && /metadata lock/.test(State ?? ''))
    }
    await expect.poll(waits, { timeout: 30_000, interval: 20 }).toBe(true)
    for (const [table, row] of pair(1000)) if (table === 'servers') await old.insert(table, row)
    await old.query('unlock tables')
    expect(idsOf(await begun, 'servers')).toEqual([])
    expect(idsOf(await read(old.url), 'servers')).toEqual([1000])
  })

  it('is read as it was at the beginning: SQLite', { timeout: 60_000 }, async () => {
    const path = join(folder, 'changing.sqlite')
    const address = await copyToSqlite(path, rows)
    const writer = new DatabaseSync(path)
    writer.exec('pragma journal_mode = wal')
    let isRead = false
    const reading = read(address).finally(() => (isRead = true))
    let id = 1000
    while (!isRead) {
      writer.exec('begin')
      for (const [table, row] of pair(id)) addToSqlite(writer, table, [row])
      writer.exec('commit')
      id += 1
      await new Promise((resolve) => setImmediate(resolve))
    }
    const found = await reading
    expect(idsOf(found, 'servers')).toEqual(idsOf(found, 'users'))
    expect(id).toBeGreaterThan(1001)
    expect(idsOf(await read(address), 'servers')).toHaveLength(id - 1000)
    writer.close()
  })

  it('is read with the pages that SQLite has in its write-ahead log alone', async () => {
    const path = join(folder, 'wal.sqlite')
    const address = await copyToSqlite(path, rows)
    const writer = new DatabaseSync(path)
    writer.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0')
    const size = statSync(path).size
    writer.exec('begin')
    for (let id = 1000; id < 1500; id += 1)
      for (const [table, row] of pair(id)) addToSqlite(writer, table, [row])
    writer.exec('commit')
    expect([statSync(path).size, existsSync(`${path}-wal`)]).toEqual([size, true])
    const found = await read(address)
    expect([idsOf(found, 'users'), idsOf(found, 'servers')].map((ids) => ids.length)).toEqual([500, 500])
    writer.close()
  })
})
