import { chmod, copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { SMTPServer } from 'smtp-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rowsOf } from '../../src/db/database.ts'
import { type Fault, faultOf } from '../../src/cli/faults.ts'
import type { Target } from '../../src/cli/setup/next-steps.ts'
import { type SetupResult, setUp } from '../../src/cli/setup/set-up.ts'
import { openPostgres } from '../../src/platform/postgres.ts'
import { createDatabase } from '../support/database.ts'
import { type CloudServices, findPostgres, openCloudServices } from '../support/cloud-services.ts'
import { openStubStore, openTestStore, type TestStore } from '../support/object-store.ts'
import { findRedisServer, startRedisServer } from '../support/redis-servers.ts'
import { openCommandLine } from './command-line.ts'

const hasPostgres = await findPostgres('setting a panel up')
const hasRedis = await findRedisServer('setting a panel up with Redis over TCP')

let directory: string
let file: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'roost-setup-'))
  file = join(directory, 'panel.env')
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** Runs the verb in this environment. */
async function setup(environment: Record<string, string>, ...words: string[]) {
  const cli = await openCommandLine(environment)
  const { code, stdout, stderr } = await cli.panel('setup', '--out', file, ...words)
  await cli.remove()
  return { code, stdout, stderr }
}
const written = async () => parseEnv(await readFile(file, 'utf8'))
const modeOf = async (path: string) => (await stat(path)).mode & 0o777

/** An address at which nothing listens. */
async function unusedPort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('setup', () => {
  it('makes the secrets of one Node process, for its owner alone to read', async () => {
    const { code, stdout } = await setup({})
    const { APP_KEYS = '', METRICS_TOKEN = '' } = await written()
    expect(code).toBe(0)
    expect(APP_KEYS).toMatch(/^k1:[A-Za-z\d+/]{43}=$/)
    expect(METRICS_TOKEN).toMatch(/^\w{40}$/)
    expect(await modeOf(file)).toBe(0o600)
    expect(stdout).toContain('APP_KEYS: generated')
    expect(stdout).toContain('npm start')
    expect(stdout).not.toContain(APP_KEYS)
    expect(stdout).not.toContain(METRICS_TOKEN)
  })

  it('changes nothing the second time, and takes the file from the eyes of others', async () => {
    await setup({ APP_NAME: "Ada's & Bob's" })
    const before = await readFile(file, 'utf8')
    await chmod(file, 0o644)
    const { code, stdout } = await setup({ APP_NAME: 'Other', APP_KEYS: `k2:${'A'.repeat(43)}=` })
    expect(code).toBe(0)
    expect(await readFile(file, 'utf8')).toBe(before)
    expect(await modeOf(file)).toBe(0o600)
    expect(stdout).toContain('APP_NAME: kept, although')
    expect(stdout).toContain('APP_KEYS: kept, although')
    expect((await setup({})).stdout).toContain('is unchanged.')
  })

  it('names the commands for people where no demo makes them', async () => {
    const { stdout } = await setup({ DEMO: 'false' })
    expect(stdout).toMatch(
      /npm run migrate\n +npm run seed\n +npm run panel -- user:create .*\n +npm start$/m,
    )
    await rm(file)
    expect((await setup({ DEMO: 'true' })).stdout).not.toContain('user:create')
  })

  it('names what a cloud needs and leaves room for it in the file', async () => {
    const { code, stdout } = await setup({ HOST: '0.0.0.0' }, '--cloud', 'workers')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^fail {2}environment +DATABASE_URL: is required here/m)
    expect(stdout).not.toContain('Next:')
    const text = await readFile(file, 'utf8')
    expect(text).toMatch(/^DATABASE_URL=$/m)
    expect(text).not.toContain('HOST')
    const keys = (await written()).APP_KEYS
    await setup({ APP_URL: 'https://panel.example.com' }, '--cloud', 'workers')
    expect(await readFile(file, 'utf8')).toMatch(/^APP_URL=https:\/\/panel\.example\.com$/m)
    expect((await written()).APP_KEYS).toBe(keys)
  })

  it('keeps comments and other variables, and writes what shells and dotenv read alike', async () => {
    await writeFile(
      file,
      '# mine\nCLOUDFLARE_API_TOKEN=abc\nMAIL_FROM=Roost <panel@example.com>\nAPP_NAME=\nAPP_TIMEZONE = UTC\nDATA_DIR=~\n',
    )
    const from = join(directory, 'old.env')
    await writeFile(from, "export APP_NAME='It & $HOME'\n")
    expect(await setup({}, '--from', from)).toMatchObject({ code: 0 })
    const text = await readFile(file, 'utf8')
    expect(text).toMatch(
      /^# mine\nCLOUDFLARE_API_TOKEN=abc\nMAIL_FROM='Roost <panel@example.com>'\nAPP_NAME='It & \$HOME'\nAPP_TIMEZONE=UTC\nDATA_DIR='~'\n/,
    )
  })

  it.each([
    ['a line that is none', 'not a line\n', 'line 1: must be NAME=value'],
    ['an open quote', "A=1\nAPP_NAME='Roost\n", 'line 2: APP_NAME: the quote is not closed'],
    ['a sign that cuts values', 'APP_NAME=a#b\n', 'line 1: APP_NAME: put the value in quotes'],
    ['a value that does not fit', 'APP_URL=panel\n', 'APP_URL: '],
    ['a key that is none', 'APP_KEYS=k1:short\n', 'APP_KEYS: must be <id>:<32 bytes in base64>'],
  ])('refuses %s and changes nothing', async (_, text, says) => {
    await writeFile(file, text)
    const attempt = setUp({}, { target: 'node', out: file, from: undefined, routes: null })
    const { error, issues = [] } = await attempt.then(
      (): Fault => ({ error: 'nothing was refused' }),
      faultOf,
    )
    expect(issues.map(({ field, problem }) => `${field}: ${problem}`).join(), error).toContain(says)
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  it('says in words where it cannot write, and what it cannot read', { timeout: 120_000 }, async () => {
    const cli = await openCommandLine()
    const nowhere = await cli.panel('setup', '--out', join(directory, 'missing', 'panel.env'))
    const folder = await cli.panel('setup', '--out', directory)
    const from = await cli.panel('setup', '--out', file, '--from', join(directory, 'old.env'))
    await cli.remove()
    expect(nowhere).toMatchObject({ code: 1, stdout: '' })
    expect(nowhere.stderr).toMatch(/panel\.env cannot be written: ENOENT/)
    expect(folder.stderr).toMatch(/cannot be read: EISDIR/)
    expect(from.stderr).toMatch(/^There is no file .*old\.env\.\n$/)
  })

  it('puts host and zone into the routes, and nowhere else', async () => {
    const toml = join(directory, 'wrangler.toml')
    await copyFile('wrangler.toml', toml)
    const words = ['--cloud', 'workers', '--write-routes', toml]
    const environment = { APP_URL: 'https://games.roost.example' }
    const { stderr } = await setup(environment, ...words, '--zone', 'other.example')
    expect(stderr).toContain('games.roost.example is not in the zone other.example')
    expect(await readFile(toml, 'utf8')).toBe(await readFile('wrangler.toml', 'utf8'))
    const { stdout } = await setup(environment, ...words, '--zone', 'roost.example')
    expect(stdout).toMatch(/^ok {4}routes +are for games\.roost\.example$/m)
    const text = await readFile(toml, 'utf8')
    expect(text).toContain('{ pattern = "games.roost.example/api/client*", zone_name = "roost.example" }')
    expect(text.match(/pattern = "panel\.example\.com/g)).toBeNull()
    expect(text).toContain('pattern = "eu.panel.example.com/api/remote*", zone_name = "example.com"')
  })
})

describe.skipIf(!hasPostgres)('what setup checks', () => {
  let services: CloudServices
  let store: TestStore
  let environment: Record<string, string>
  /** Runs the checks with a working environment, changed as given. */
  const look = async (different: Record<string, string>, target: Target = 'workers') => {
    const variables = { ...environment, ...different }
    const outcome = await setUp(variables, { target, out: file, from: undefined, routes: null })
    return outcome.checks.flatMap(({ name, state, detail }) =>
      state === 'fail' ? [`${name}: ${detail}`] : [],
    )
  }

  beforeAll(async () => {
    ;[services, store] = await Promise.all([openCloudServices(), openTestStore()])
    const { bucket, region, endpoint, accessKeyId, secretAccessKey } = store.options
    environment = {
      ...services.environment,
      APP_URL: `http://127.0.0.1:${await unusedPort()}`,
      S3_PRESET: 'minio',
      S3_BUCKET: bucket,
      S3_REGION: region,
      S3_ENDPOINT: endpoint ?? '',
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
      MAIL_HTTP_TOKEN: 'token-of-the-mail',
      MAIL_FROM: 'Roost <panel@roost.example>',
    }
  })
  afterAll(() => Promise.all([services?.close(), store?.close()]))

  it('tries every service for what the panel needs, and leaves nothing there', async () => {
    const { code, stdout } = await setup(environment, '--cloud', 'workers', '--json')
    const { checks } = JSON.parse(stdout) as Pick<SetupResult, 'checks'>
    expect(Object.fromEntries(checks.map(({ name, state }) => [name, state]))).toEqual({
      environment: 'ok',
      database: 'ok',
      tables: 'ok',
      pg_trgm: 'ok',
      migrations: 'ok',
      neon: 'ok',
      cache: 'ok',
      queue: 'ok',
      'signing keys': 'ok',
      'store object': 'ok',
      'store bucket': 'ok',
      'store upload': 'ok',
      'store size': 'ok',
      'store download': 'ok',
      'store removal': 'ok',
      'store abort': 'ok',
      mail: 'ok',
      address: 'warn',
      routes: 'warn',
    })
    expect(code).toBe(0)
    expect(await written()).toMatchObject(environment)
    for (const [name, value] of Object.entries(environment))
      if (/KEY|TOKEN/.test(name)) expect(stdout).not.toContain(value)
    const tables = `select 1 from pg_tables where tablename like 'roost_setup_%'`
    expect(rowsOf(await services.database.db.execute(tables))).toEqual([])
    const listing = await fetch(`${store.options.endpoint}/archives`, {
      headers: { authorization: `AWS4-HMAC-SHA256 Credential=${store.options.accessKeyId}/` },
    })
    expect(await listing.text()).not.toContain('<Key>')
  })

  it('says what to do next, for each cloud', async () => {
    const { stdout } = await setup(environment, '--cloud', 'workers')
    expect(stdout).toContain(`do npx wrangler secret bulk ${file} --env "$surface"; done\n`)
    expect(stdout).toMatch(/set -a; \. \S+panel\.env; set \+a\n {2}npm run deploy:workers\n/)
    const lambda = await setup(environment, '--cloud', 'lambda')
    expect(lambda.stdout).toContain('npm run deploy:lambda\n')
  })

  it('finds services that do not answer, each by itself', async () => {
    const away = `127.0.0.1:${await unusedPort()}`
    const failed = await look({
      DATABASE_URL: `postgres://panel:pass-word@${away}/roost`,
      UPSTASH_REDIS_REST_URL: `http://${away}`,
      QSTASH_URL: `http://${away}`,
      S3_ENDPOINT: `http://${away}`,
    })
    expect(failed.map((line) => line.split(': ')[0])).toEqual(['database', 'cache', 'queue', 'store object'])
    expect(failed.join()).not.toContain('pass-word')
  })

  it.each([
    ['UPSTASH_REDIS_REST_TOKEN', 'cache: Unauthorized'],
    ['QSTASH_TOKEN', 'queue: QSTASH_TOKEN was rejected'],
    [
      'QSTASH_CURRENT_SIGNING_KEY',
      'signing keys: copy both keys from the console of QStash; different: QSTASH_CURRENT_SIGNING_KEY',
    ],
    [
      'QSTASH_NEXT_SIGNING_KEY',
      'signing keys: copy both keys from the console of QStash; different: QSTASH_NEXT_SIGNING_KEY',
    ],
    ['S3_ACCESS_KEY_ID', 'store object: '],
  ])('finds a wrong %s', async (name, says) => {
    const failed = await look({ [name]: 'a-wrong-value' })
    expect(failed).toHaveLength(1)
    expect(failed[0]).toContain(says)
  })

  it('ends with exit code 1 when a service refuses', async () => {
    const { code, stdout } = await setup({ ...environment, QSTASH_TOKEN: 'wrong' }, '--cloud', 'lambda')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^fail {2}queue +QSTASH_TOKEN was rejected: copy it from the console of QStash$/m)
    expect(stdout).toContain('Fix the failed checks, and run this again.')
    expect(await written()).toMatchObject({ APP_KEYS: environment.APP_KEYS, QSTASH_TOKEN: 'wrong' })
  })

  it('says how many migrations are pending, which is no failure', async () => {
    const { url, drop } = await createDatabase()
    const { db, close } = openPostgres(url, 1)
    await db.execute('drop table migrations')
    await close()
    const outcome = await setUp(
      { DATABASE_URL: url },
      { target: 'node', out: file, from: undefined, routes: null },
    )
    await drop()
    const found = outcome.checks.find(({ name }) => name === 'migrations')
    expect(found).toMatchObject({ state: 'warn', detail: expect.stringMatching(/^\d+ pending: /) })
  })

  it('finds a store that takes objects but no uploads in parts', async () => {
    const objects = new Map<string, Buffer>()
    const odd = await openStubStore((request, response) => {
      const { pathname, search } = new URL(request.url ?? '/', 'http://store')
      if (search.includes('uploads')) return void response.writeHead(501).end()
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        if (request.method === 'PUT') objects.set(pathname, Buffer.concat(chunks))
        if (request.method === 'DELETE') objects.delete(pathname)
        const found = objects.get(pathname)
        if (request.method === 'GET' && !found)
          return void response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
        response.end(request.method === 'GET' ? found : '')
      })
    })
    const failed = await look({ S3_ENDPOINT: odd.options.endpoint ?? '' })
    await odd.close()
    expect(failed).toEqual([expect.stringMatching(/^store upload: /)])
  })

  it('finds a role that may not make tables, or read what was migrated', async () => {
    const { db } = services.database
    const url = new URL(environment.DATABASE_URL ?? '')
    await db.execute(`create role setup_reader_${process.pid} login password 'reads-only'`)
    url.username = `setup_reader_${process.pid}`
    url.password = 'reads-only'
    const failed = await look({ DATABASE_URL: url.href }, 'node')
    await db.execute(`drop role setup_reader_${process.pid}`)
    expect(failed).toEqual([
      'tables: permission denied for schema public',
      'migrations: this role may not read the table migrations',
    ])
  })

  it.skipIf(!hasRedis)('tries Redis over TCP, and shows no password of it', async () => {
    const server = await startRedisServer(['--requirepass', 'hush-right'])
    const over = (password: string) => ({
      UPSTASH_REDIS_REST_URL: '',
      UPSTASH_REDIS_REST_TOKEN: '',
      REDIS_URL: `redis://:${password}@127.0.0.1:${server.port}`,
    })
    const right = await look(over('hush-right'), 'node')
    await rm(file)
    const wrong = await look(over('hush-wrong'), 'node')
    await rm(file)
    const several = `127.0.0.1:${await unusedPort()},127.0.0.1:${await unusedPort()}`
    const away = await look(
      { ...over(''), REDIS_URL: `redis+sentinel://:hush-several@${several}/panel` },
      'node',
    )
    await server.close()
    expect(right).toEqual([])
    expect(wrong).toEqual([expect.stringContaining('cache: WRONGPASS')])
    expect(away).toEqual([expect.stringMatching(/^cache: /)])
    expect([...wrong, ...away].join()).not.toContain('hush')
  })

  it('tries the mail server, which Workers cannot reach', async () => {
    const server = new SMTPServer({
      hideSTARTTLS: true,
      allowInsecureAuth: true,
      onAuth: ({ password }, _session, done) =>
        done(password === 'right-one' ? null : new Error('No.'), { user: 'panel' }),
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.server.address() as AddressInfo
    const smtp = (password: string) => ({
      MAIL_DRIVER: 'smtp',
      MAIL_HTTP_TOKEN: '',
      SMTP_URL: `smtp://panel:${password}@127.0.0.1:${port}`,
    })
    const right = await look(smtp('right-one'), 'lambda')
    await rm(file)
    const wrong = await look(smtp('wrong-one'), 'lambda')
    await rm(file)
    const workers = await look(smtp('right-one'))
    await new Promise<void>((resolve) => server.close(() => resolve()))
    expect(right).toEqual([])
    expect(wrong).toEqual([expect.stringMatching(/^mail: .*No\./)])
    expect(workers).toEqual(['mail: smtp is not available on Workers: set MAIL_DRIVER to resend or postmark'])
  })
})
