import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { appKeyText, createOldPanel, known, type OldPanel } from './old-panel.ts'

/** Of both, since they have the same secrets. */
const APP_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`
const hasPostgres = await findPostgres('moving in')

type Moved = {
  cli: CommandLine
  database: Awaited<ReturnType<typeof createDatabase>>
  running: Awaited<ReturnType<CommandLine['start']>>
}

// The old panel is one of ours with the same rows: what is asked is the wire, which both speak.
describe.skipIf(!hasPostgres || !hasMysql)('asking both panels', () => {
  let old: OldPanel
  let [before, after]: Moved[] = []

  beforeAll(async () => {
    old = await createOldPanel('pterodactyl')
    const open = async (): Promise<Omit<Moved, 'running'>> => {
      const database = await createDatabase()
      return { database, cli: await openCommandLine({ DATABASE_URL: database.url, APP_KEYS }) }
    }
    const [first, second] = [await open(), await open()]
    await first.cli.script('scripts/migrate.ts')
    expect((await first.cli.json('import:pterodactyl', ...source())).code).toBe(0)
    await copyDatabase(first.database.url, second.database.url)
    ;[before, after] = await Promise.all(
      [first, second].map(async (each) => ({ ...each, running: await each.cli.start() })),
    )
  }, 240_000)
  afterAll(async () => {
    for (const moved of [before, after]) {
      await moved?.running.stop()
      await moved?.cli.remove()
      await moved?.database.drop()
    }
    await old?.drop()
  })

  const source = () => ['--database', old.url, '--app-key', appKeyText]
  const verify = (oldUrl: string, ...words: string[]) =>
    after!.cli.json(
      'import:verify',
      ...source(),
      ...words,
      '--old-url',
      oldUrl,
      '--new-url',
      after!.running.url,
    )

  it('finds the same answers for keys and daemons', async () => {
    const { code, body } = await verify(before!.running.url)
    expect(body.wires.differences).toEqual([])
    expect(body.wires.requests).toBeGreaterThan(15)
    expect(code).toBe(0)
  })

  it('knows databases by the ids that the old panel writes', async () => {
    const proxy = createServer((request, answer) => void forward(request, answer))
    const forward = async (request: IncomingMessage, answer: ServerResponse) => {
      const { authorization = '' } = request.headers
      const found = await fetch(`${before!.running.url}${request.url}`, { headers: { authorization } })
      const isDatabases = request.url?.endsWith('/databases')
      const body = (await found.text()).replaceAll(/"id":"1"/g, isDatabases ? '"id":"gB0NV05e"' : '$&')
      answer.writeHead(found.status, { 'content-type': 'application/json' }).end(body)
    }
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const env = join(after!.cli.directory, 'old.env')
    await writeFile(env, `APP_KEY=${appKeyText}\nHASHIDS_SALT=this is my salt\n`)
    const differing = async (...words: string[]) => {
      const { body } = await verify(url, ...words)
      return body.wires.differences.map(({ request }: any) => request)
    }
    expect(await differing()).toEqual([expect.stringMatching(/\/databases$/)])
    expect(await differing('--env', env)).toEqual([])
    proxy.close()
  })

  it('lists the fields that differ, and the callers', async () => {
    const sql = postgres(before!.database.url, { max: 1 })
    await sql`update servers set name = 'Renamed there' where id = 30`
    await sql`delete from subusers`
    await sql.end()
    const { code, body } = await verify(before!.running.url)
    expect(code).toBe(1)
    expect(body.differences).toEqual([])
    expect(body.wires.differences).toContainEqual({
      caller: 'API key 1',
      request: 'GET /api/client?per_page=50',
      fields: [`data[${known.serverUuid}].attributes.name`],
    })
  })

  it('says which panel does not answer', async () => {
    const { code, stderr } = await after!.cli.panel(
      'import:verify',
      ...source(),
      '--old-url',
      'http://127.0.0.1:9',
      '--new-url',
      after!.running.url,
    )
    expect(code).toBe(1)
    expect(stderr).toContain('http://127.0.0.1:9 does not answer')
  })
})

/** Rows without times in the old panel get that of the move, so both have to come from one. */
async function copyDatabase(from: string, to: string): Promise<void> {
  const nameOf = (url: string) => new URL(url).pathname.slice(1)
  const sql = postgres(Object.assign(new URL(from), { pathname: '/postgres' }).href, { max: 1 })
  await sql.unsafe(`drop database "${nameOf(to)}"`)
  await sql.unsafe(`create database "${nameOf(to)}" template "${nameOf(from)}"`)
  await sql.end()
}
