import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql, mysqlAdmin } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { createOldDatabase, type OldDatabase } from './old-database.ts'
import { appKeyText } from './old-panel.ts'

const run = promisify(execFile)
const hasServers = (await findPostgres('the commands of docs/moving-in.md')) && hasMysql
const root = fileURLToPath(new URL('../../', import.meta.url))
const page = await readFile(join(root, 'docs/moving-in.md'), 'utf8')

/** The lines of the page's blocks of commands, in their order. */
const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
  block.split('\n').filter(Boolean),
)

describe.skipIf(!hasServers)('the commands of docs/moving-in.md', () => {
  let cli: CommandLine
  let database: Awaited<ReturnType<typeof createDatabase>>
  let old: OldDatabase

  beforeAll(async () => {
    database = await createDatabase()
    cli = await openCommandLine({ DATABASE_URL: database.url })
    await cli.script('scripts/migrate.ts')
    old = await createOldDatabase('1.11')
    const { host, port, username, password } = mysqlAdmin
    const client = `[client]\nhost=${host}\nport=${port}\nuser=${username}\npassword=${password}\n`
    await writeFile(join(cli.directory, '.my.cnf'), client)
    await writeFile(join(cli.directory, 'old.env'), `APP_KEY=${appKeyText}\nAPP_TIMEZONE=Europe/Berlin\n`)
  }, 120_000)
  afterAll(async () => {
    await old?.drop()
    await cli?.remove()
    await database?.drop()
  })

  /** Puts the names of this test in place of those of the page: files, the address, and the database. */
  const here = (line: string) =>
    line
      .replaceAll(/(?<=\s)(?:old\.env|panel\.sql\.gz)\b/g, (name) => join(cli.directory, name))
      .replace('mysql://user:password@host:3306/panel', old.url)
      .replace(/^(mysqldump .*) panel$/, `$1 ${old.name}`)

  it('run as they are written', { timeout: 120_000 }, async () => {
    expect(commands.map((line) => line.split(' ').slice(0, 5).join(' '))).toEqual(
      expect.arrayContaining(['gzip panel.sql', 'npm run panel -- import:pterodactyl']),
    )
    for (const line of commands) {
      const isOurs = line.startsWith('npm ')
      const env = {
        PATH: process.env.PATH,
        HOME: cli.directory,
        DATABASE_URL: database.url,
        DATA_DIR: cli.directory,
      }
      const cwd = isOurs ? root : cli.directory
      const { stdout } = await run('sh', ['-c', here(line)], { cwd, env })
      if (isOurs) expect(stdout).toMatch(/^servers +4 there, 2 can move/m)
    }
  })
})
