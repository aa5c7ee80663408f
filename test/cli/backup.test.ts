import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/processes.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'

const hasPostgres = await findPostgres('backups of PostgreSQL')

const execute = promisify(execFile)

const addUser = (cli: CommandLine, name: string) =>
  cli.panel('user:create', '--email', `${name}@roost.example`, '--username', name, '--admin')

const call = async (url: string, token: string, path: string, method = 'GET', body?: object) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/api/application${path}`, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return { status: answer.status, body: (await answer.json()) as any }
}

/** Users and a secret whose key is needed. Returns a key of the Application API. */
async function fill(cli: CommandLine, url: string): Promise<string> {
  await addUser(cli, 'ada')
  const { body } = await cli.json('key:create', '--user', 'ada', '--type', 'application')
  const stored = await call(url, body.token, '/settings', 'PATCH', { captcha: { secret: 'of the captcha' } })
  expect(stored.status).toBe(200)
  return body.token
}

const locations = async (cli: CommandLine, token: string): Promise<string[]> => {
  const running = await cli.start()
  try {
    const { body } = await call(running.url, token, '/locations?per_page=500')
    return body.data.map((each: any) => each.attributes.short)
  } finally {
    await running.stop()
  }
}

describe('a backup of the embedded database', { timeout: 120_000 }, () => {
  let cli: CommandLine
  let other: CommandLine
  let file = ''
  let withKeys = ''
  let token = ''
  /** Names of the locations whose creation was answered before the backup began. */
  let written: string[] = []

  beforeAll(async () => {
    ;[cli, other] = await Promise.all([openCommandLine(), openCommandLine()])
    file = join(cli.directory, 'plain.tar.zst')
    withKeys = join(cli.directory, 'with-keys.tar.zst')
    const running = await cli.start()
    token = await fill(cli, running.url)
    await writeFile(join(cli.directory, 'objects', 'keys', 'one.json'), '{"key":"one"}')
    let ends = false
    const done: string[] = []
    const writing = (async () => {
      for (let index = 0; !ends; index += 1) {
        const { status } = await call(running.url, token, '/locations', 'POST', { short: `l${index}` })
        if (status === 201) done.push(`l${index}`)
        await delay(50)
      }
    })()
    await eventually(() => done.length > 2)
    written = [...done]
    const { code, stderr } = await cli.panel('backup:create', '--to', file)
    ends = true
    await writing
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect((await cli.json('backup:create', '--to', withKeys, '--with-keys')).body).toMatchObject({
      has_keys: true,
      has_objects: true,
    })
    await running.stop()
  }, 240_000)
  afterAll(() => Promise.all([cli, other].map((each) => each?.remove())))

  it('leaves nothing but the file, and refuses to write over one', async () => {
    expect((await readdir(cli.directory)).filter((name) => /^backup-|partial/.test(name))).toEqual([])
    const { code, stderr } = await cli.panel('backup:create', '--to', file)
    expect([code, stderr]).toEqual([1, expect.stringContaining('exists already')])
  })

  it('is made of a stopped panel, too, by default in the data directory', async () => {
    expect((await cli.panel('backup:create')).code).toBe(0)
    expect(await readdir(join(cli.directory, 'backups'))).toEqual([
      expect.stringMatching(/^roost-.*\.tar\.zst$/),
    ])
  })

  it('names a folder that is not there', async () => {
    const { code, stderr } = await cli.panel('backup:create', '--to', join(cli.directory, 'no', 'file'))
    expect([code, stderr]).toEqual([1, expect.stringContaining('the folder does not exist')])
  })

  it('is not restored without the keys that its secrets need', async () => {
    const { code, stderr } = await other.panel('backup:restore', file)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/need the key k1, which the archive does not/)])
    expect(existsSync(join(other.directory, 'database'))).toBe(false)
  })

  it('is not restored when it is damaged', async () => {
    const damaged = join(cli.directory, 'damaged.tar.zst')
    await writeFile(damaged, await readFile(withKeys))
    await truncate(damaged, 100_000)
    const { code, stderr } = await other.panel('backup:restore', damaged)
    expect([code, stderr]).toEqual([1, expect.stringContaining('The archive is damaged')])
    expect(await readdir(other.directory)).toEqual([])
  })

  it.each([
    [
      'one of a newer schema',
      /newer schema/,
      (text: string) => text.replace(/"newest": \d+/, '"newest": 9e15'),
    ],
    [
      'another checksum',
      /is damaged: .* is not what/,
      (text: string) => text.replace(/"sha256": "./, '"sha256": "x'),
    ],
  ])('is not restored with a manifest of %s', async (_name, problem, change) => {
    const folder = join(other.directory, 'unpacked')
    await execute('mkdir', ['-p', folder])
    await execute('tar', ['--zstd', '-xf', withKeys, '-C', folder])
    const manifest = join(folder, 'manifest.json')
    await writeFile(manifest, change(await readFile(manifest, 'utf8')))
    const changed = join(cli.directory, 'changed.tar.zst')
    await execute('tar', ['--zstd', '-cf', changed, '-C', folder, ...(await readdir(folder))])
    await rm(folder, { recursive: true })
    const { code, stderr } = await other.panel('backup:restore', changed)
    expect([code, stderr]).toEqual([1, expect.stringMatching(problem)])
  })

  it('is restored with its keys into an empty folder, and the panel has its data', async () => {
    const { code, stderr } = await other.panel('backup:restore', withKeys)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(await readFile(join(other.directory, 'objects', 'keys', 'one.json'), 'utf8')).toContain('one')
    expect(await locations(other, token)).toEqual(expect.arrayContaining(written))
    expect((await other.panel('secrets:rotate', '--check')).stdout).toContain('Only k1 is needed')
  })

  it('is not restored over data, nor beside a running panel, and with --replace takes its place', async () => {
    const refused = await other.panel('backup:restore', file)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('has a database already')])
    const running = await other.start()
    const beside = await other.panel('backup:restore', file, '--replace')
    await running.stop()
    expect([beside.code, beside.stderr]).toEqual([1, expect.stringContaining('is in use by process')])
    // The keys are there by now: those of the first restoration.
    expect((await other.panel('backup:restore', file, '--replace')).code).toBe(0)
    expect((await readdir(other.directory)).filter((name) => /restore/.test(name))).toEqual([])
    expect(await locations(other, token)).toEqual(expect.arrayContaining(written))
  })
})

describe.skipIf(!hasPostgres)('a backup of PostgreSQL', { timeout: 120_000 }, () => {
  let cli: CommandLine
  let other: CommandLine
  let databases: Awaited<ReturnType<typeof createDatabase>>[] = []
  let file = ''
  let token = ''

  beforeAll(async () => {
    databases = await Promise.all([createDatabase(), createDatabase()])
    // What only tests have, beside the schema of the panel.
    for (const { url } of databases)
      await execute('psql', ['-qc', 'drop schema if exists testing cascade', url])
    const [from, to] = databases.map(({ url }) => url)
    ;[cli, other] = await Promise.all([
      openCommandLine({ DATABASE_URL: from ?? '' }),
      openCommandLine({ DATABASE_URL: to ?? '' }),
    ])
    file = join(cli.directory, 'postgres.tar.zst')
    const running = await cli.start()
    token = await fill(cli, running.url)
    await call(running.url, token, '/locations', 'POST', { short: 'one' })
    const { code, stderr } = await cli.panel('backup:create', '--to', file, '--with-keys')
    expect({ code, stderr }).toMatchObject({ code: 0 })
    await running.stop()
  })
  afterAll(async () => {
    await Promise.all([cli, other].map((each) => each?.remove()))
    await Promise.all(databases.map(({ drop }) => drop()))
  })

  it('says what to install where there is no pg_dump that is new enough', async () => {
    const { findPostgresTool } = await import('../../src/cli/postgres-tools.ts')
    await expect(findPostgresTool('pg_dump', 99)).rejects.toThrow(/postgresql-client-99$/)
  })

  it('is not restored into a database with tables', async () => {
    const { code, stderr } = await other.panel('backup:restore', file)
    expect([code, stderr]).toEqual([1, expect.stringContaining('The database is not empty')])
  })

  it('is not restored while a panel runs', async () => {
    const running = await other.start()
    const elsewhere = await openCommandLine({ DATABASE_URL: databases[1]?.url ?? '' })
    const { code, stderr } = await elsewhere.panel('backup:restore', file, '--replace')
    await running.stop()
    await elsewhere.remove()
    expect([code, stderr]).toEqual([1, expect.stringContaining('uses the database. Stop it')])
  })

  it('takes the place of what was there with --replace', async () => {
    const { code, stderr } = await other.panel('backup:restore', file, '--replace')
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(await locations(other, token)).toEqual(['one'])
  })
})
