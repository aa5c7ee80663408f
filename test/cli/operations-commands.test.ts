import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { testDatabaseUrl } from '../support/database.ts'
import { documentedCommand } from '../support/documented-commands.ts'
import { freePort } from '../support/panel-process.ts'
import { eventually } from '../support/processes.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'

const run = promisify(execFile)
const hasPostgres = await findPostgres('the commands of docs/operations.md')
const root = fileURLToPath(new URL('../../', import.meta.url))
const page = 'docs/operations.md'

describe.skipIf(!hasPostgres)('the commands of docs/operations.md', { timeout: 180_000 }, () => {
  const server = new URL(testDatabaseUrl)
  const name = `operations_${process.pid}`
  let cli: CommandLine
  let environment: Record<string, string>

  beforeAll(async () => {
    cli = await openCommandLine()
    const panel = await cli.start()
    await panel.stop()
    environment = {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      DATA_DIR: cli.directory,
      DEMO: 'false',
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      PGUSER: decodeURIComponent(server.username),
      PGPASSWORD: decodeURIComponent(server.password),
      PGPORT: server.port || '5432',
    }
  }, 120_000)
  afterAll(async () => {
    await cli?.remove()
    const client = postgres(testDatabaseUrl, { max: 1, onnotice: () => undefined })
    await client.unsafe(`drop database if exists ${name} with (force)`)
    await client.end()
  })

  /** Puts the database of this test in place of that of the page. */
  const here = (line: string) => {
    const target = new URL(testDatabaseUrl)
    target.pathname = `/${name}`
    return line
      .replace('postgres://panel:password@db.example.com/panel', target.href)
      .replace(/-h db\.example\.com (.*) panel$/, `-h ${server.hostname} $1 ${name}`)
  }
  const shell = (line: string) => run('sh', ['-c', here(line)], { cwd: root, env: environment })

  it('work on the embedded database as they are written', async () => {
    await shell(documentedCommand(page, 'npm run migrate'))
    await shell(documentedCommand(page, 'npm run panel -- backup:create'))
    expect(await readdir(join(cli.directory, 'backups'))).toHaveLength(1)
    for (const verb of ['job:list', 'queue:schedule'])
      await shell(documentedCommand(page, `npm run panel -- ${verb}`))
    const { stdout } = await shell(documentedCommand(page, 'npm run routes'))
    expect(stdout).toContain('/api/client/servers/{server}')
  })

  it('move it to PostgreSQL as they are written, and start there', async () => {
    const script = [
      documentedCommand(page, 'createdb'),
      documentedCommand(page, 'export DATABASE_URL='),
      documentedCommand(page, 'npm run panel -- database:move --check'),
      `${documentedCommand(page, 'npm run panel -- database:move')}`,
      documentedCommand(page, 'npm start'),
    ]
    const child = spawn('sh', ['-ec', script.map(here).join('\n')], {
      cwd: root,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)))
    const ended = once(child, 'exit')
    try {
      await eventually(() => {
        if (child.exitCode !== null) throw new Error(said)
        return said.includes('serves at')
      }, 120)
      expect(said).toContain('Nothing was: repeat without --check')
      const health = await fetch(`http://127.0.0.1:${environment.PORT}/health`)
      expect(health.status).toBe(200)
      environment.DATABASE_URL = here('postgres://panel:password@db.example.com/panel')
      const { stdout } = await shell(documentedCommand(page, 'npm run panel -- backup:test'))
      expect(stdout).toMatch(/^ok +download/m)
    } finally {
      process.kill(-(child.pid ?? 0), 'SIGTERM')
      await ended
    }
  })
})
