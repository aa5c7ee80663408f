import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { iamCertificate, startIamPostgres } from '../support/iam-postgres.ts'
import { openCommandLine } from './command-line.ts'

const hasPostgres = await findPostgres('a role that signs in by IAM')
const key = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', region: 'eu-central-1' }

describe.skipIf(!hasPostgres)('a database whose role signs in by IAM', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>
  let server: Awaited<ReturnType<typeof startIamPostgres>>

  beforeAll(async () => {
    database = await createDatabase()
    server = await startIamPostgres(database.url, key)
  })
  afterAll(async () => {
    await server?.close()
    await database?.drop()
  })

  const migrate = async (more: Record<string, string>) => {
    const address = new URL(database.url)
    address.host = server.host
    address.password = ''
    address.searchParams.set('auth', 'iam')
    const cli = await openCommandLine({
      DATABASE_URL: address.href,
      NODE_EXTRA_CA_CERTS: iamCertificate,
      AWS_ACCESS_KEY_ID: key.id,
      AWS_SECRET_ACCESS_KEY: key.secret,
      AWS_REGION: key.region,
      // Without keys it would look for those of a role.
      AWS_EC2_METADATA_DISABLED: 'true',
      ...more,
    })
    const finished = await cli.script('scripts/migrate.ts')
    await cli.remove()
    return finished
  }

  it('is reached with a token that is signed for the connection', async () => {
    expect(await migrate({})).toMatchObject({ code: 0 })
  })

  it.each([
    ['with another key', { AWS_SECRET_ACCESS_KEY: 'another' }, 'PAM authentication failed'],
    ['without a key', { AWS_SECRET_ACCESS_KEY: '' }, 'needs AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY'],
    ['with a certificate that is not trusted', { NODE_EXTRA_CA_CERTS: '' }, 'certificate'],
  ])('is refused %s', async (_case, more, message) => {
    const { code, stderr } = await migrate(more)
    expect(code).toBe(1)
    expect(stderr).toContain(message)
  })
})
