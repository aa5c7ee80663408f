import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeAttestationObject, isoBase64URL, parseAuthenticatorData } from '@simplewebauthn/server/helpers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { type Authenticator, openAuthenticator } from '../support/authenticator.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { freePort } from '../support/panel-process.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { createOldDatabase, type OldDatabase } from './old-database.ts'
import { appKeyText } from './old-panel.ts'
import { openPanelBrowser } from './sign-in.ts'

const hasServers = (await findPostgres('passkeys that moved in')) && hasMysql
// Passkeys need a name, and the panel is asked under it.
const port = await freePort()
const origin = `http://localhost:${port}`
const handle = Buffer.alloc(32, 7).toString('base64url')

/** A passkey as Pelican stores it: the record of its WebAuthn library as JSON. */
function recordOf(authenticator: Authenticator): Record<string, unknown> {
  const made = authenticator.make({ challenge: 'any', user: { id: handle } })
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(made.response.attestationObject))
  const { credentialPublicKey } = parseAuthenticatorData(attestation.get('authData'))
  return {
    publicKeyCredentialId: authenticator.id,
    type: 'public-key',
    transports: ['internal'],
    attestationType: 'none',
    trustPath: {},
    aaguid: '00000000-0000-0000-0000-000000000000',
    credentialPublicKey: isoBase64URL.fromBuffer(credentialPublicKey!),
    userHandle: handle,
    counter: 3,
  }
}

describe.skipIf(!hasServers)('passkeys of Pelican', () => {
  const authenticator = openAuthenticator(origin)
  let database: Awaited<ReturnType<typeof createDatabase>>
  let cli: CommandLine
  let old: OldDatabase

  beforeAll(async () => {
    database = await createDatabase()
    cli = await openCommandLine({ DATABASE_URL: database.url, APP_URL: origin, PORT: String(port) })
    await cli.script('scripts/migrate.ts')
    old = await createOldDatabase('pelican')
    const record = recordOf(authenticator)
    const rows: [number, number, Record<string, unknown>][] = [
      [1, 5, record],
      [2, 5, { ...record, publicKeyCredentialId: 'other', credentialPublicKey: 'not base64!' }],
      [3, 5, { ...record, publicKeyCredentialId: 'third', counter: -1 }],
      [4, 99, { ...record, publicKeyCredentialId: 'fourth' }],
    ]
    for (const [id, user, credential] of rows)
      await old.insert('passkeys', {
        id,
        user_id: user,
        name: id === 1 ? 'L'.repeat(120) : 'Key',
        credential_id: String(credential.publicKeyCredentialId),
        credential: JSON.stringify(credential),
      })
  }, 120_000)
  afterAll(async () => {
    await cli?.remove()
    await old?.drop()
    await database?.drop()
  })

  const source = async (lines: string[]) => {
    const file = join(cli.directory, 'old.env')
    await writeFile(file, [`APP_KEY=${appKeyText}`, ...lines].join('\n'))
    return ['--database', old.url, '--env', file]
  }
  const run = async (lines: string[], ...words: string[]) => {
    const { code, body } = await cli.json('import:pelican', ...(await source(lines)), ...words)
    const found = (body.findings ?? []).filter(({ table }: any) => table === 'passkeys')
    return {
      code,
      counted: body.tables?.find(({ table }: any) => table === 'passkeys'),
      reasons: found.map(({ what, ids, reason }: any) => `${what} ${ids}: ${reason}`) as string[],
    }
  }

  it.each<[string[], RegExp]>([
    [[], /1: the domain it is bound to is not known: give --env with the APP_URL/],
    [['APP_URL=https://other.example'], /1: is bound to other\.example, and this panel is at localhost/],
  ])('stay there where they could not work here: %s', async (lines, reason) => {
    const { code, counted, reasons } = await run(lines, '--check')
    expect([code, counted.movable]).toEqual([0, 0])
    expect(reasons).toContainEqual(expect.stringMatching(reason))
  })

  it('move, but for damaged ones', { timeout: 240_000 }, async () => {
    const { code, counted, reasons } = await run(['APP_URL=http://localhost:8080'])
    expect([code, counted]).toEqual([0, { table: 'passkeys', found: 4, movable: 1, written: 1 }])
    expect(reasons.toSorted()).toEqual([
      'changed 1: name is cut to 100 characters',
      'left out 2,3: its credential is damaged',
      'left out 4: user_id names a row of users that is not moved',
    ])
    const verified = await cli.json('import:verify', ...(await source([`APP_URL=${origin}`])))
    expect(verified).toMatchObject({ code: 0, body: { differences: [] } })
  })

  it('sign in as before, and only as the account that they know', { timeout: 240_000 }, async () => {
    const panel = await cli.start()
    try {
      const signIn = async (deviations: object) => {
        const browser = await openPanelBrowser(panel.url)
        const options = await browser.call('/auth/passkeys/options', {})
        const answer = await browser.call('/auth/passkeys/login', authenticator.use(options.body, deviations))
        return { ...answer, browser }
      }
      authenticator.state.counter = 3
      const wrong = Buffer.from('a0000005-0000-4000-8000-000000000000').toString('base64url')
      expect((await signIn({ userHandle: wrong })).status).toBe(400)
      const { status, body } = await signIn({})
      expect([status, body.data.complete]).toEqual([200, false])
    } finally {
      await panel.stop()
    }
  })
})
