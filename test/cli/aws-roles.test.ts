import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAwsMetadata } from '../support/aws-metadata.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { iamCertificate, startIamPostgres } from '../support/iam-postgres.ts'
import { openTestStore, type TestStore } from '../support/object-store.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'

const hasPostgres = await findPostgres('a database over the role of a machine')
const places = ['the role of a container', 'the role of an instance', 'the shared file'] as const

let store: TestStore
let metadata: Awaited<ReturnType<typeof startAwsMetadata>>
let cli: CommandLine | null = null

beforeAll(async () => {
  store = await openTestStore()
  const { accessKeyId: id, secretAccessKey: secret } = store.options
  metadata = await startAwsMetadata({ id, secret, token: 'session' })
})
afterAll(async () => {
  await cli?.remove()
  await Promise.all([metadata?.close(), store?.close()])
})

/** The variables of a machine that has its credentials in one place, and in no other. */
async function machineWith(place: (typeof places)[number] | 'nothing'): Promise<Record<string, string>> {
  await cli?.remove()
  cli = null
  const found = await openCommandLine()
  cli = found
  const { accessKeyId, secretAccessKey } = store.options
  const file = join(found.directory, 'credentials')
  const keys = `aws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`
  await writeFile(file, place === 'the shared file' ? `[panel]\n${keys}` : '')
  return {
    HOME: found.directory,
    AWS_SHARED_CREDENTIALS_FILE: file,
    ...(place === 'the role of an instance' ? metadata.instance : { AWS_EC2_METADATA_DISABLED: 'true' }),
    ...(place === 'the role of a container' ? metadata.container : {}),
    ...(place === 'the shared file' ? { AWS_PROFILE: 'panel' } : {}),
  }
}

/** Runs a file of the command line once, with these variables. */
async function run(variables: Record<string, string>, file: string, ...words: string[]) {
  const line = await openCommandLine(variables)
  const finished = await line.script(file, words)
  await line.remove()
  return finished
}

describe('a bucket of AWS without keys', { timeout: 180_000 }, () => {
  const bucket = () => ({
    S3_PRESET: 'aws',
    S3_BUCKET: store.options.bucket,
    S3_REGION: store.options.region,
    S3_ENDPOINT: store.options.endpoint ?? '',
    S3_PATH_STYLE: 'true',
  })

  it.each(places)('is used with those of %s', async (place) => {
    const variables = { ...(await machineWith(place)), ...bucket() }
    store.requests.length = 0
    const { code, stdout } = await run(variables, 'panel.ts', 'backup:test', '--create')
    expect(stdout).toMatch(/^ok +download/m)
    expect(code).toBe(0)
    const hasToken = store.requests.some((request) => request.includes('X-Amz-Security-Token=session'))
    expect(hasToken).toBe(place !== 'the shared file')
  })

  it('says that there are none where there are none', async () => {
    const variables = { ...(await machineWith('nothing')), ...bucket() }
    const { code, stdout } = await run(variables, 'panel.ts', 'backup:test', '--create')
    expect(stdout).toMatch(/^fail +bucket .*credentials/im)
    expect(code).toBe(1)
  })

  it('has both of its keys, or neither', async () => {
    const { code, stderr } = await run({ ...bucket(), S3_ACCESS_KEY_ID: 'one' }, 'panel.ts', 'backup:test')
    expect(stderr).toContain('S3_SECRET_ACCESS_KEY: is missing, though S3_BUCKET is set')
    expect(code).toBe(1)
  })
})

describe.skipIf(!hasPostgres)('a role of RDS without keys', { timeout: 180_000 }, () => {
  it('signs in with those of the role of a container', async () => {
    const { accessKeyId: id, secretAccessKey: secret, region } = store.options
    const database = await createDatabase()
    const server = await startIamPostgres(database.url, { id, secret, region })
    const address = new URL(database.url)
    address.host = server.host
    address.password = ''
    address.searchParams.set('auth', 'iam')
    try {
      const finished = await run(
        {
          ...(await machineWith('the role of a container')),
          DATABASE_URL: address.href,
          NODE_EXTRA_CA_CERTS: iamCertificate,
          AWS_REGION: region,
        },
        'scripts/migrate.ts',
      )
      expect(finished).toMatchObject({ code: 0 })
    } finally {
      await server.close()
      await database.drop()
    }
  })
})
