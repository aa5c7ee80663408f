import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CommandLine, openCommandLine } from './command-line.ts'

const verbs = [
  'setup',
  'setup:code',
  'user:create',
  'user:reset-password',
  'user:reset-2fa',
  'user:verify-email',
  'key:create',
  'node:configure',
  'node:reset-secret',
  'egg:import',
  'backup:test',
  'mail:test',
  'job:list',
  'job:retry',
  'job:discard',
  'queue:schedule',
  'doctor',
]

describe('the usage of the command line', () => {
  let cli: CommandLine
  beforeAll(async () => {
    cli = await openCommandLine()
  })
  afterAll(() => cli.remove())

  it('lists every verb on --help', async () => {
    const { code, stdout } = await cli.panel('--help')
    expect(code).toBe(0)
    for (const verb of verbs) expect(stdout).toContain(`  ${verb} `)
  })

  it('prints the version of package.json on --version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect(await cli.panel('--version')).toMatchObject({ code: 0, stdout: `${version}\n` })
    expect(await cli.json('--version')).toEqual({ code: 0, body: { version } })
  })

  it('explains each verb on --help', async () => {
    for (const verb of verbs) {
      const { code, stdout } = await cli.panel(verb, '--help')
      expect(code).toBe(0)
      expect(stdout).toContain(`Usage: npm run panel -- ${verb}`)
    }
  })

  it.each([
    { words: [], says: 'A verb is missing.' },
    { words: ['user:delete'], says: 'There is no verb user:delete.' },
    { words: ['doctor', '--fast'], says: "Unknown option '--fast'" },
    { words: ['setup'], says: 'Missing: --out' },
    {
      words: ['setup', '--out', 'x', '--cloud', 'nine'],
      says: '--cloud nine is not workers, lambda or node.',
    },
    { words: ['setup', '--out', 'x', '--zone', 'y'], says: 'Use --write-routes and --zone together.' },
    { words: ['doctor', 'now'], says: 'Unexpected argument: now' },
    { words: ['job:retry'], says: 'An argument is missing.' },
    { words: ['job:list', '--page', 'x'], says: '--page x is not a page number.' },
    { words: ['job:list', '--state', 'lost'], says: '--state lost is not waiting, done or dead.' },
    { words: ['node:configure'], says: 'An argument is missing.' },
    { words: ['user:verify-email'], says: 'An argument is missing.' },
    { words: ['user:create', '--admin'], says: 'Missing: --email, --username' },
    { words: ['node:configure', '1', '--command', '--out', 'x'], says: 'Use either --out or --command.' },
    { words: ['key:create', '--user', 'x', '--type', 'account', '--acl', 'pets=3'], says: '--acl pets=3' },
  ])('answers $words with the usage and exit code 2', async ({ words, says }) => {
    const { code, stdout, stderr } = await cli.panel(...words)
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(says)
    expect(stderr).toContain('Usage: npm run panel --')
  })

  it('says in JSON, too, what it does not understand', async () => {
    expect(await cli.json('user:delete')).toEqual({
      code: 2,
      body: { error: 'There is no verb user:delete.' },
    })
  })
})

describe('an environment with faults', () => {
  let cli: CommandLine
  beforeAll(async () => {
    cli = await openCommandLine({ DATABASE_URL: 'mysql://nowhere', S3_BUCKET: 'files' })
  })
  afterAll(() => cli.remove())

  it('is refused variable by variable', async () => {
    const { code, body } = await cli.json('user:create', '--email', 'a@roost.example', '--username', 'ada')
    expect(code).toBe(1)
    expect(body.issues.map(({ field }: { field: string }) => field)).toEqual([
      'DATABASE_URL',
      'S3_ACCESS_KEY_ID',
      'S3_SECRET_ACCESS_KEY',
    ])
  })

  it('is what the doctor finds first', async () => {
    const { code, stdout } = await cli.panel('doctor')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^fail {2}environment {2}DATABASE_URL: /)
  })
})
