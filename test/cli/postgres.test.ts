import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase, queryDatabase } from '../support/database.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'

const hasPostgres = await findPostgres('the command line on PostgreSQL')

describe.skipIf(!hasPostgres)('the command line on PostgreSQL', () => {
  let cli: CommandLine
  let database: Awaited<ReturnType<typeof createDatabase>>

  beforeAll(async () => {
    database = await createDatabase()
    await query('drop schema public cascade; create schema public')
    cli = await openCommandLine({ DATABASE_URL: database.url })
  })
  afterAll(async () => {
    await cli?.remove()
    await database?.drop()
  })

  const query = (statement: string) => queryDatabase(database.url, statement)
  const tables = async () => [...(await query(`select tablename from pg_tables where schemaname = 'public'`))]

  it('finds that migrations are missing, and leaves them so', async () => {
    const { code, stdout, stderr } = await cli.panel('doctor')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Database: \S+\/\w+\n$/)
    expect(stderr).not.toMatch(/postgres:|@/)
    expect(stdout).toMatch(/^fail {2}migrations .*npm run migrate$/m)
  })

  it.each([
    ['panel.ts', 'user:create', '--email', 'ada@roost.example', '--username', 'ada'],
    ['scripts/seed.ts'],
  ])('does nothing on the old schema, nor brings it up to date: %s %s', async (file, ...words) => {
    const { code, stderr } = await cli.script(file, words)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^\d+ migrations are pending: run npm run migrate first\.$/m)
    expect(await tables()).toEqual([])
  })

  it('applies them', async () => {
    expect((await cli.script('scripts/migrate.ts')).code).toBe(0)
    const { code, stdout } = await cli.panel('doctor')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ok {4}migrations /m)
  })

  it('works beside a running panel without its help', async () => {
    const running = await cli.start()
    const { code, body } = await cli.json('user:create', '--email', 'ada@roost.example', '--username', 'ada')
    await running.stop()
    expect({ code, body }).toMatchObject({ code: 0, body: { id: 1, username: 'ada' } })
  })
})
