import { readdir } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CommandLine, openCommandLine } from './command-line.ts'

describe('the command line on its own', () => {
  let cli: CommandLine
  beforeAll(async () => {
    cli = await openCommandLine()
  })
  afterAll(() => cli.remove())

  it.each([
    ['panel.ts', 'user:create', '--email', 'ada@roost.example', '--username', 'ada'],
    ['panel.ts', 'doctor'],
    ['scripts/seed.ts'],
    ['scripts/migrate.ts'],
  ])('prints its database and never creates an embedded one by accident: %s %s', async (file, ...words) => {
    const { code, stdout, stderr } = await cli.script(file, words)
    expect(code).toBe(1)
    expect(stderr).toContain(`Database: embedded, in ${cli.directory}\n`)
    expect(stdout + stderr).toContain('or repeat with --create to create one')
    expect(await readdir(cli.directory)).toEqual([])
  })

  it('brings the embedded database up to date', async () => {
    const { code, stdout } = await cli.script('scripts/migrate.ts', ['--create'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'The database has the newest schema.\n' })
  })

  it('adds an administrator with a password of its own making', async () => {
    const { code, stdout } = await cli.panel(
      'user:create',
      '--email',
      'ada@roost.example',
      '--username',
      'Ada',
      '--admin',
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(/^id +1\nuuid +[\da-f-]{36}\nusername +ada\npassword +\w{20}\n$/)
  })

  it('refuses an account that is there already', async () => {
    const { code, stdout, stderr } = await cli.panel(
      'user:create',
      '--email',
      'ADA@roost.example',
      '--username',
      'other',
    )
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      `Database: embedded, in ${cli.directory}\nThe input is invalid.\n  email: The email has already been taken.\n`,
    )
  })

  it('finds nothing wrong with a fresh installation', async () => {
    const { code, body } = await cli.json('doctor')
    const states = body.checks.map(({ name, state }: { name: string; state: string }) => [name, state])
    expect(code).toBe(0)
    expect(Object.fromEntries(states)).toEqual({
      environment: 'ok',
      database: 'ok',
      migrations: 'ok',
      clock: 'ok',
      cache: 'ok',
      queue: 'ok',
      objects: 'ok',
      mail: 'warn',
      nodes: 'warn',
    })
  })

  it('leaves neither lock nor socket behind', async () => {
    const left = await readdir(cli.directory)
    expect(left).not.toContain('lock')
    expect(left).not.toContain('control.sock')
  })
})
