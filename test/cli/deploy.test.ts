import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { deployAll, printBundleSizes } from '../../src/cli/deployment.ts'
import { requiredByClouds } from '../../src/platform/deployment-faults.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'

const hasPostgres = await findPostgres('deploying')

describe('the scripts that deploy', () => {
  let cli: CommandLine
  beforeAll(async () => {
    cli = await openCommandLine()
  })
  afterAll(() => cli.remove())

  it('do nothing without a database', async () => {
    expect(await cli.script('scripts/deploy-workers.ts')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'DATABASE_URL is missing: migrations run first. Nothing was deployed.\n',
    })
  })

  it('do nothing on Lambda while a variable is missing that its functions need', async () => {
    const { code, stdout, stderr } = await cli.script('scripts/deploy-lambda.ts')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    const [first, ...faults] = stderr.trim().split('\n')
    expect(first).toBe('The environment is invalid.')
    expect(faults).toEqual(requiredByClouds.map((name) => `  ${name}: is required here`))
  })

  it.each([
    ['scripts/deploy-workers.ts', ['--fast'], "Unknown option '--fast'"],
    ['scripts/deploy-workers.ts', ['client'], "Unexpected argument 'client'"],
    ['scripts/deploy-workers.ts', ['--out', 'x'], '--out requires --dry-run.'],
    ['scripts/deploy-lambda.ts', ['--dry-run'], "Unknown option '--dry-run'"],
    ['scripts/deploy-lambda.ts', ['--out', 'x'], '--out requires --package.'],
    ['scripts/deploy-lambda.ts', ['--remote-only'], '--remote-only requires --region.'],
    ['scripts/deploy-lambda.ts', ['--region', 'the moon'], '--region the moon is not an AWS region.'],
  ])('answer %s %j with the usage and exit code 2', async (script, words, says) => {
    const { code, stdout, stderr } = await cli.script(script, words)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(says)
    expect(stderr).toContain('Usage: npm run deploy:')
  })

  it('fail when a bundle is over its budget', async () => {
    const sizes = [
      { name: 'client', raw: 2, gzip: 1, budget: 1 },
      { name: 'jobs', raw: 3, gzip: 2, budget: 1 },
    ]
    await expect(printBundleSizes(undefined, async () => sizes)).rejects.toThrow('Over budget: jobs.')
    await printBundleSizes(undefined, async () => sizes.slice(0, 1))
  })
})

describe.skipIf(!hasPostgres)('deploying with a database', () => {
  let cli: CommandLine
  let database: Awaited<ReturnType<typeof createDatabase>>
  let client: postgres.Sql
  const isMigrated = async () => {
    const [row] = await client`select to_regclass('public.servers') is not null as found`
    return row?.found as boolean
  }

  beforeAll(async () => {
    database = await createDatabase()
    client = postgres(database.url, { max: 1, onnotice: () => undefined })
    cli = await openCommandLine({ DATABASE_URL: database.url })
  })
  beforeEach(async () => {
    await client.unsafe('drop schema public cascade; create schema public')
  })
  afterAll(async () => {
    await client?.end()
    await cli?.remove()
    await database?.drop()
  })

  it('brings the database up to date before anything is deployed, in the order that was asked for', async () => {
    const seen: [string, boolean][] = []
    const deployment = (name: string) => ({
      name,
      run: async () => void seen.push([name, await isMigrated()]),
    })
    expect(await isMigrated()).toBe(false)
    await deployAll({ DATABASE_URL: database.url }, [deployment('client'), deployment('jobs')])
    expect(seen).toEqual([
      ['client', true],
      ['jobs', true],
    ])
  })

  it('stops at the first failure and says what was deployed', async () => {
    const deployed: string[] = []
    const deployment = (name: string) => ({
      name,
      run: async () => {
        if (name === 'application') throw new Error('The cloud said no.')
        deployed.push(name)
      },
    })
    const attempt = deployAll(
      { DATABASE_URL: database.url },
      ['client', 'application', 'remote'].map(deployment),
    )
    await expect(attempt).rejects.toThrow(
      'The cloud said no. Deployed: client. Not deployed: application, remote.',
    )
    expect(deployed).toEqual(['client'])
  })

  it('deploys nothing when the migrations fail', async () => {
    const url = new URL(database.url)
    url.pathname = '/nowhere_at_all'
    const deployed: string[] = []
    const attempt = deployAll({ DATABASE_URL: url.href }, [
      { name: 'client', run: async () => void deployed.push('client') },
    ])
    await expect(attempt).rejects.toThrow(/^The migrations failed: .*Nothing was deployed\.$/)
    expect(deployed).toEqual([])
  })

  it('migrates, and then finds no account at Cloudflare', { timeout: 120_000 }, async () => {
    // There are no credentials in this home directory, and no prompt asks for them.
    const alone = await openCommandLine({ DATABASE_URL: database.url, HOME: cli.directory, CI: '1' })
    const { code, stdout, stderr } = await alone.script('scripts/deploy-workers.ts')
    await alone.remove()
    expect(stdout).toMatch(/^The database has the newest schema\.\n\nDeploying client\n/)
    expect(stderr).toContain(
      'ended with exit code 1. Deployed: nothing. Not deployed: client, application, remote, browser, jobs.',
    )
    expect({ code, isMigrated: await isMigrated() }).toEqual({ code: 1, isMigrated: true })
  })
})
