import { once } from 'node:events'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { makePanelFolder, type PanelFolder } from '../support/panel-folder.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { appKeyText, createOldPanel, type OldPanel } from './old-panel.ts'

const hasServers = (await findPostgres('what a killed move leaves')) && hasMysql

describe.skipIf(!hasServers)('the rows that a move has read', { timeout: 120_000 }, () => {
  let cli: CommandLine
  let database: Awaited<ReturnType<typeof createDatabase>>
  let old: OldPanel
  let sql: postgres.Sql
  let folder: PanelFolder

  beforeAll(async () => {
    folder = await makePanelFolder()
    database = await createDatabase()
    old = await createOldPanel('pterodactyl')
    sql = postgres(database.url, { max: 2, onnotice: () => undefined })
    cli = await openCommandLine({ DATABASE_URL: database.url, TMPDIR: folder.path })
    await cli.script('scripts/migrate.ts')
  }, 120_000)
  afterAll(async () => {
    await sql?.end()
    await cli?.remove()
    await old?.drop()
    await database?.drop()
    await folder?.remove()
  })

  const words = () => ['import:pterodactyl', '--database', old.url, '--app-key', appKeyText]
  const left = async () => (await readdir(folder.path)).filter((name) => name.startsWith('move-in-'))

  /** Does something while a move waits to write into a locked table; returns that process. */
  async function whileMoving(work: (move: ReturnType<CommandLine['begin']>) => Promise<unknown>) {
    const child = cli.begin(...words())
    child.stdout.resume()
    child.stderr.resume()
    const ended = once(child, 'exit')
    await sql.begin(async (held) => {
      await held`lock table users in share mode`
      const waits = async () =>
        (
          await sql`select pid from pg_locks join pg_class on pg_class.oid = relation where relname = 'users'
            and not granted and database = (select oid from pg_database where datname = current_database())`
        ).length > 0
      await expect.poll(waits, { timeout: 60_000, interval: 50 }).toBe(true)
      await work(child)
    })
    return (await ended) as [code: number | null, signal: string | null]
  }
  const killMove = () => whileMoving(async (child) => child.kill('SIGKILL'))

  it('are deleted by the next run when it was killed, but not while it runs', async () => {
    expect((await killMove())[1]).toBe('SIGKILL')
    const [killed = '', ...others] = await left()
    expect([killed, others]).toEqual([expect.stringMatching(/^move-in-/), []])
    const own = String(process.pid)
    const kept = killed.replace(/^move-in-\w+/, 'move-in-0123456789ab')
    // One of another machine, one of a process that has the number of one that ended, and one of another program.
    for (const name of [kept, killed.replace(/-\d+-/, `-${own}-`), 'move-in-else'])
      await mkdir(join(folder.path, name), { recursive: true })
    let running: string[] = []
    const [code] = await whileMoving(async () => {
      running = (await left()).filter((name) => name !== kept && name !== 'move-in-else')
      expect(running).toHaveLength(1)
      expect(running).not.toContain(killed)
      expect((await cli.panel(...words(), '--check')).code).toBe(0)
      expect(await left()).toEqual(expect.arrayContaining(running))
    })
    expect(code).toBe(0)
    expect((await left()).toSorted()).toEqual([kept, 'move-in-else'].toSorted())
    expect(await sql`select id from servers order by id`).toEqual([{ id: 30 }, { id: 31 }])
  })

  it('are deleted by the next start of the panel, but not while the move runs', async () => {
    await sql`truncate users, moved_rows, locations, nests, mounts, database_hosts cascade`
    const others = await left()
    expect((await killMove())[1]).toBe('SIGKILL')
    const [killed = ''] = (await left()).filter((name) => !others.includes(name))
    await whileMoving(async (child) => {
      const [running = ''] = (await left()).filter((name) => !others.includes(name))
      await mkdir(join(folder.path, killed))
      const panel = await cli.start()
      const there = await left()
      await panel.stop()
      expect([there.includes(killed), there.includes(running)]).toEqual([false, true])
      child.kill('SIGKILL')
    })
  })
})
