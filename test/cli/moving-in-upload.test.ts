import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type RunningProcess, startProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { createOldDatabase, type OldDatabase } from './old-database.ts'
import { appKeyText } from './old-panel.ts'

const hasServers = (await findPostgres('moving in by upload')) && hasMysql

let cli: CommandLine
let database: Awaited<ReturnType<typeof createDatabase>>
let sql: postgres.Sql
let old: OldDatabase
let panel: RunningProcess
let token: string

/** Starts two processes that share a port, a database and a data directory. */
const startPanel = () =>
  startProcess('functions/all/start.js', {
    env: {
      PORT: '0',
      HOST: '127.0.0.1',
      DEMO: 'false',
      DATA_DIR: cli.directory,
      DATABASE_URL: database.url,
      PROCESSES: '2',
      // The tests ask how far it is every few milliseconds.
      APPLICATION_RATE_LIMIT: '100000',
    },
    ready: /Roost serves at/,
  })

beforeAll(async () => {
  if (!hasServers) return
  ;[database, old] = await Promise.all([createDatabase(), createOldDatabase('1.11')])
  sql = postgres(database.url, { max: 2, onnotice: () => undefined })
  cli = await openCommandLine({ DATABASE_URL: database.url })
  panel = await startPanel()
  await cli.json('user:create', '--email', 'root@roost.example', '--username', 'root', '--admin')
  token = (await cli.json('key:create', '--user', 'root', '--type', 'application')).body.token
}, 120_000)
afterAll(async () => {
  await panel?.stop()
  await sql?.end()
  await cli?.remove()
  await Promise.all([database?.drop(), old?.drop()])
})

const urlOf = () => /https?:\/\/\S+/.exec(panel.output())?.[0] ?? ''

async function call(method: string, path = '', body?: object | Uint8Array) {
  const isFile = body instanceof Uint8Array
  const answer = await fetch(`${urlOf()}/api/application/move-in${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      // Each request may come to another process.
      connection: 'close',
      ...(body ? { 'content-type': isFile ? 'application/octet-stream' : 'application/json' } : {}),
    },
    ...(body ? { body: isFile ? Uint8Array.from(body) : JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
}

const show = async () => (await call('GET')).body.attributes
const reach = (stage: string) =>
  until(async () => {
    const move = await show()
    expect(move.stage, JSON.stringify(move.fault)).toBe(stage)
    return move
  })
const keys = { kind: 'pterodactyl', app_key: appKeyText, timezone: 'Europe/Berlin' }
const files = () => readdir(join(cli.directory, 'move-in'))

async function uploadAndCheck(dump: Buffer) {
  expect((await call('POST', '/dump?name=panel.sql.gz', gzipSync(dump))).status).toBe(200)
  expect((await call('POST', '/check', keys)).status).toBe(202)
  return reach('checked')
}

describe.skipIf(!hasServers)('a dump that is uploaded', { timeout: 120_000 }, () => {
  it('moves in; a panel that is killed meanwhile tells it, and the next move goes on', async () => {
    const dump = await old.dump()
    expect((await uploadAndCheck(dump)).can_start).toBe(true)
    expect(await files()).toHaveLength(1)
    // The last phase waits for this lock, so that the panel is killed in it.
    const lock = await sql.reserve()
    await lock`begin`
    await lock`lock table backups in share mode`
    expect((await call('POST', '/start', {})).status).toBe(202)
    await until(async () => {
      const { stage, progress } = await show()
      expect([stage, progress?.phase]).toEqual(['moving', expect.stringContaining('backups')])
      expect(progress).toMatchObject({ rows: expect.any(Number), total: expect.any(Number) })
    })
    expect((await call('POST', '/dump?name=other.sql', dump)).body.errors[0].meta.reason).toBe(
      'move_in_taken',
    )
    await panel.kill()
    await lock`rollback`
    lock.release()
    expect(await files()).not.toEqual([])

    panel = await startPanel()
    const interrupted = await show()
    expect(interrupted).toMatchObject({
      stage: 'interrupted',
      has_moved: true,
      timezone: 'Europe/Berlin',
      first_timezone: 'Europe/Berlin',
    })
    expect(await files()).toEqual([])
    expect(await sql`select 1 from settings where key = 'move_in.keys'`).toEqual([])
    expect(await sql`select count(*)::int as users from users`).toEqual([{ users: 3 }])
    expect(await sql`select id from servers order by id`).toEqual([{ id: 30 }, { id: 31 }])
    expect(await sql`select id from schedules`).toEqual([])

    expect((await uploadAndCheck(dump)).can_start).toBe(true)
    expect((await call('POST', '/start', {})).status).toBe(202)
    const done = await reach('done')
    expect([done.differences, done.fault]).toEqual([[], null])
    expect(done.report.tables).toContainEqual({ table: 'users', found: 2, movable: 2, written: 0 })
    expect(done.report.tables).toContainEqual({ table: 'servers', found: 4, movable: 2, written: 0 })
    expect(await sql`select id from backups`).not.toEqual([])
    expect(await files()).toEqual([])
    const events = await sql`select properties ->> 'outcome' as outcome from activity
      where event = 'admin:move-in.end' order by id`
    expect(events).toEqual([{ outcome: 'interrupted' }, { outcome: 'done' }])
    expect(panel.output()).not.toContain(appKeyText.slice(7))
  })

  it('is refused in another time zone, until that is said to be corrected', async () => {
    await call('DELETE')
    const dump = gzipSync(await old.dump())
    const uploaded = (await call('POST', '/dump?name=panel.sql.gz', dump)).body.attributes
    expect([uploaded.timezone, uploaded.first_timezone]).toEqual([null, 'Europe/Berlin'])
    await call('POST', '/check', { ...keys, timezone: 'Asia/Tokyo' })
    await until(async () => {
      const { stage, fault } = await show()
      expect([stage, fault?.error]).toEqual(['uploaded', expect.stringMatching(/would take Asia\/Tokyo/)])
    })
    await call('POST', '/check', { ...keys, timezone: 'Asia/Tokyo', correct_timezone: true })
    expect((await reach('checked')).report.notes).toContainEqual(
      expect.stringMatching(/^It replaces Europe\/Berlin of the first run/),
    )
    expect((await call('POST', '/start', {})).status).toBe(202)
    const done = await reach('done')
    expect([done.differences, done.fault, done.first_timezone]).toEqual([[], null, 'Asia/Tokyo'])
    expect(await sql`select timezone from schedules`).toEqual([{ timezone: 'Asia/Tokyo' }])
    keys.timezone = 'Asia/Tokyo'
  })

  it('is cancelled while it waits, by whichever process is asked', async () => {
    await call('DELETE')
    await sql`delete from backups`
    await sql`delete from moved_rows where table_name = 'backups'`
    await uploadAndCheck(await old.dump())
    const lock = await sql.reserve()
    await lock`begin`
    await lock`lock table backups in share mode`
    await call('POST', '/start', {})
    await until(async () => expect((await show()).progress?.phase).toContain('backups'))
    expect((await call('DELETE')).status).toBe(204)
    expect(await show()).toMatchObject({ stage: 'moving', is_cancelling: true })
    // The process that writes has heard of it by now.
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    await lock`rollback`
    lock.release()
    await reach('cancelled')
    expect(await files()).toEqual([])
    expect(await sql`select id from backups`).toEqual([])
  })
})
