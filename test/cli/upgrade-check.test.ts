import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import journal from '../../drizzle/meta/_journal.json' with { type: 'json' }
import { upgradeNotes } from '../../src/cli/upgrade-notes.ts'
import { version } from '../../src/version.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase, queryDatabase } from '../support/database.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'

const hasPostgres = await findPostgres('what an upgrade changes')
const newest = Math.max(...journal.entries.map(({ when }) => when))
const before = journal.entries.findIndex(({ tag }) => tag === '0005_verified_addresses')

describe.skipIf(!hasPostgres)('upgrade:check on PostgreSQL', () => {
  let cli: CommandLine
  let database: Awaited<ReturnType<typeof createDatabase>>
  let server: Server
  let origin: string

  beforeAll(async () => {
    server = createServer((request, response) => {
      const answers: Record<string, object> = {
        '/health': { version: '0.0.9' },
        '/latest': { tag_name: 'v9.1.0' },
        '/plain': { version: '9.2.0' },
      }
      const answer = answers[request.url ?? '']
      response.writeHead(answer ? 200 : 404).end(JSON.stringify(answer ?? {}))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    database = await createDatabase()
    cli = await openCommandLine({ DATABASE_URL: database.url, APP_URL: origin })
  })
  afterAll(async () => {
    server?.close()
    await cli?.remove()
    await database?.drop()
  })

  const query = (statement: string) => queryDatabase(database.url, statement)

  it('finds nothing to do, and asks the panel which version runs', async () => {
    expect(await cli.json('upgrade:check')).toEqual({
      code: 0,
      body: {
        version,
        running: '0.0.9',
        pending: [],
        database_is_newer: false,
        notes: [],
        latest: null,
      },
    })
  })

  it.each([
    ['latest', '9.1.0'],
    ['plain', '9.2.0'],
  ])('looks for a newer version where it is told: %s', async (path, latest) => {
    const { body } = await cli.json('upgrade:check', '--releases', `${origin}/${path}`)
    expect(body.latest).toBe(latest)
  })

  it('says where no release can be read', async () => {
    const { code, stderr } = await cli.panel('upgrade:check', '--releases', `${origin}/nothing`)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('it answers 404') })
  })

  it('runs on a database of a later version', async () => {
    await query(`insert into migrations (hash, created_at) values ('later', ${newest + 1})`)
    const { code, stdout } = await cli.panel('upgrade:check')
    expect(code).toBe(0)
    expect(stdout).toContain('newer than this version, which runs on it')
  })

  it('lists what is pending with what has to be known of it, and applies nothing', async () => {
    await query(`delete from migrations where created_at >= ${journal.entries[before]?.when}`)
    const { code, stdout } = await cli.panel('upgrade:check')
    expect(code).toBe(1)
    expect(stdout.match(/^pending: .*$/gm)).toHaveLength(journal.entries.length - before)
    expect(stdout).toContain('pending: 0005_verified_addresses')
    expect(stdout).toContain('From 0.1 (docs/upgrading.md): Accounts that exist count as verified')
    const [row] = await query('select count(*)::int as applied from migrations')
    expect(row?.applied).toBe(before)
  })
})

describe('upgrade:check on the embedded database', () => {
  it('asks the panel that has it open', { timeout: 120_000 }, async () => {
    const cli = await openCommandLine()
    const running = await cli.start()
    const { code, body } = await cli.json('upgrade:check')
    await running.stop()
    expect({ code, body }).toMatchObject({ code: 0, body: { running: version, pending: [] } })
    expect((await cli.json('upgrade:check')).body).toMatchObject({ running: null, pending: [] })
    await cli.remove()
  })
})

describe('the notes of upgrades', () => {
  it('have a heading in docs/upgrading.md and a migration of this code', () => {
    const page = readFileSync(new URL('../../docs/upgrading.md', import.meta.url), 'utf8')
    expect(upgradeNotes.length).toBeGreaterThan(0)
    for (const { heading, migration } of upgradeNotes) {
      expect(page).toContain(`\n## ${heading}\n`)
      expect(journal.entries.map(({ tag }) => tag)).toContain(migration)
    }
    const headings = [...page.matchAll(/^## (From .+)$/gm)].map(([, heading]) => heading)
    expect(upgradeNotes.map(({ heading }) => heading)).toEqual(expect.arrayContaining(headings))
  })
})
