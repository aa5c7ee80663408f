import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type BundleFiles,
  budgetsKib,
  filesAtStart,
  overBudget,
  readLambda,
  readWorker,
  sizeAtStart,
  sizeTable,
  surfaceNames,
} from '../../src/cli/bundles.ts'
import { zipEntries } from '../../src/cli/zip-entries.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'

const hasPostgres = await findPostgres('deploying to Lambda')

/** Longer than any of the programs takes. */
const timeout = 240_000

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'roost-bundles-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** A script as it runs where there is neither a database nor an account at a cloud. */
async function run(script: string, words: string[], more: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env
  const child = execFile(process.execPath, [`src/cli/scripts/${script}`, ...words], {
    env: { PATH, HOME, ...more },
  })
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout!),
    text(child.stderr!),
  ])
  return { code: code as number, stdout, stderr }
}

/** The rows of a printed table. */
const rowsIn = (stdout: string) =>
  Array.from(stdout.matchAll(/^(\w+) +([\d.]+) +([\d.]+) +(\d+)(?: +(over))?$/gm), ([, name, ...rest]) => {
    const [raw, gzip, budget] = rest.slice(0, 3).map(Number)
    return { name, raw, gzip, budget, isOver: rest[3] === 'over' }
  })

/** The functions that store objects, sign links to them or test the bucket. */
const usesObjects = new Set(['client', 'application', 'remote', 'jobs'])

/** Whether the SDK of the object store is in the files of a function, and in those that it loads when it starts. */
function sdkIn(files: BundleFiles, entry: string) {
  const has = (some: BundleFiles) =>
    [...some.values()].some((code) => code.includes('CompleteMultipartUpload'))
  return { some: has(files), atStart: has(filesAtStart(files, entry)) }
}

const promised = surfaceNames.map((name) => ({ name, budget: budgetsKib[name] }))

describe('deploy-workers --dry-run', () => {
  it('bundles each surface within its budget, without what Workers lack', { timeout }, async () => {
    const { code, stdout, stderr } = await run('deploy-workers.ts', ['--dry-run', '--out', directory])
    expect(
      rowsIn(stdout).map(({ name, budget }) => ({ name, budget })),
      stderr,
    ).toEqual(promised)
    for (const { name } of promised) {
      const files = await readWorker(join(directory, name))
      for (const code of files.values()) {
        // Browsers' parser of XML does not exist there, and mail servers are for platforms that may reach them.
        expect(code.includes('DOMParser'), name).toBe(false)
        expect(code.includes('nodemailer'), name).toBe(false)
      }
      // What few requests need is there, and not loaded before one of them.
      const { some, atStart } = sdkIn(files, 'worker.js')
      expect({ name, some, atStart }).toEqual({ name, some: usesObjects.has(name), atStart: false })
    }
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  it('bundles the whole panel within what the smallest plan takes', { timeout }, async () => {
    const { code, stdout, stderr } = await run('deploy-workers.ts', ['--whole', '--dry-run'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(rowsIn(stdout)).toMatchObject([{ name: 'roost', budget: 3072 }])
  })
})

describe('deploy-lambda --package', () => {
  it(
    'packages each surface within its budget, and pages with the function that shows them',
    { timeout },
    async () => {
      const out = join(directory, 'lambda')
      const { code, stdout, stderr } = await run('deploy-lambda.ts', ['--package', '--out', out])
      expect(
        rowsIn(stdout).map(({ name, budget }) => ({ name, budget })),
        stderr,
      ).toEqual(promised)
      const namesIn = async (name: string) =>
        zipEntries(await readFile(join(out, `${name}.zip`))).map((entry) => entry.name)
      const browser = await namesIn('browser')
      const files = await readdir('dist/web/assets')
      expect(files.filter((file) => !browser.includes(`dist/web/assets/${file}`))).toEqual([])
      expect(browser).toEqual(
        expect.arrayContaining(
          ['openapi.json', 'favicon.ico', 'icon-192.png', 'robots.txt', 'service-worker.js'].map(
            (file) => `dist/web/${file}`,
          ),
        ),
      )
      for (const name of ['client', 'application', 'remote', 'jobs']) {
        expect(
          (await namesIn(name)).filter((file) => file.startsWith('dist/web/')),
          name,
        ).toEqual([])
      }
      for (const { name } of promised) {
        const own = await readLambda(join(out, `${name}.zip`))
        const others = [...own.keys()].filter((file) => !file.startsWith(`functions/${name}/`))
        expect(others).toEqual([])
        const { some, atStart } = sdkIn(own, `functions/${name}/lambda.mjs`)
        expect({ name, some, atStart }).toEqual({ name, some: usesObjects.has(name), atStart: false })
      }
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    },
  )

  it('packages the remote function alone, for another region', { timeout }, async () => {
    const out = join(directory, 'remote-only')
    const { code, stdout, stderr } = await run('deploy-lambda.ts', [
      '--package',
      '--remote-only',
      '--region',
      'us-east-1',
      '--out',
      out,
    ])
    expect(rowsIn(stdout), stderr).toMatchObject([{ name: 'remote', budget: budgetsKib.remote }])
    const state = JSON.parse(await readFile(join(out, 'serverless-state.json'), 'utf8'))
    // A name of its own, so that it may stand in the region of the panel, too.
    expect(state.service.functions.remote.name).toBe('roost-remote-remote')
    expect(state.service.provider.region).toBe('us-east-1')
    expect(Object.keys(state.service.functions)).toEqual(['remote'])
    const routes = Object.values<any>(state.service.provider.compiledCloudFormationTemplate.Resources)
      .map(({ Properties }) => Properties?.RouteKey)
      .filter(Boolean)
    expect(routes).toEqual(['ANY /api/remote/{proxy+}'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})

describe.skipIf(!hasPostgres)('deploy-lambda', () => {
  it('migrates, and then finds no account at AWS', { timeout }, async () => {
    const { url, drop } = await createDatabase()
    const client = postgres(url, { max: 1, onnotice: () => undefined })
    await client.unsafe('drop schema public cascade; create schema public')
    // There are no credentials at this home, and no machine of AWS is asked for any.
    const { code, stdout, stderr } = await run(
      'deploy-lambda.ts',
      ['--remote-only', '--region', 'us-east-1'],
      {
        APP_URL: 'https://panel.test',
        APP_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
        DATABASE_URL: url,
        UPSTASH_REDIS_REST_URL: 'https://cache.test',
        UPSTASH_REDIS_REST_TOKEN: 'token-of-the-cache',
        QSTASH_TOKEN: 'token-of-the-queue',
        QSTASH_CURRENT_SIGNING_KEY: 'sig_current',
        QSTASH_NEXT_SIGNING_KEY: 'sig_next',
        HOME: directory,
        AWS_EC2_METADATA_DISABLED: 'true',
        CI: '1',
      },
    )
    const [row] = await client`select to_regclass('public.servers') is not null as found`
    await client.end()
    await drop()
    expect(stdout).toMatch(/^The database has the newest schema\.\n\nDeploying remote\n/)
    expect(stderr).toContain('ended with exit code 1. Deployed: nothing. Not deployed: remote.')
    expect({ code, isMigrated: row?.found }).toEqual({ code: 1, isMigrated: true })
  })
})

describe('the table of sizes', () => {
  it('marks what is over its budget', () => {
    const sizes = [
      { name: 'light', raw: 20, gzip: 9.96, budget: 10 },
      { name: 'heavy', raw: 30.06, gzip: 10.1, budget: 10 },
    ]
    expect(overBudget(sizes)).toEqual([sizes[1]])
    expect(rowsIn(sizeTable(sizes))).toEqual([
      { name: 'light', raw: 20, gzip: 10, budget: 10, isOver: false },
      { name: 'heavy', raw: 30.1, gzip: 10.1, budget: 10, isOver: true },
    ])
  })

  it('takes no archive that is none for a function', async () => {
    await expect(readLambda('package.json')).rejects.toThrow('not a ZIP archive')
    expect(() => sizeAtStart('client', new Map())).toThrow('no code')
  })

  it('counts what an entry imports, and not what it may import later', () => {
    const files = new Map(
      Object.entries({
        'a/worker.js': 'import{x}from"./one.js";import"./two.js";const y=()=>import("./later.js")',
        'a/one.js': 'export*from"./shared.js"',
        'a/two.js': '',
        'a/shared.js': 'import"./one.js"',
        'a/later.js': 'import"./shared.js"',
      }).map(([name, code]) => [name, Buffer.from(code)]),
    )
    expect([...filesAtStart(files, 'a/worker.js').keys()].toSorted()).toEqual([
      'a/one.js',
      'a/shared.js',
      'a/two.js',
      'a/worker.js',
    ])
  })
})
