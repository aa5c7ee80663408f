import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { S3Options } from '../../src/adapters/objects.ts'
import { privateStoreChecks } from '../../src/cli/operations/checks.ts'
import type { Panel } from '../../src/panel.ts'
import { openStubStore, openTestStore, type TestStore } from '../support/object-store.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'

const environmentOf = ({ bucket, region, endpoint, accessKeyId, secretAccessKey }: S3Options) => ({
  S3_PRESET: 'minio',
  S3_BUCKET: bucket,
  S3_REGION: region,
  S3_ENDPOINT: endpoint ?? '',
  S3_ACCESS_KEY_ID: accessKeyId,
  S3_SECRET_ACCESS_KEY: secretAccessKey,
})

const names = ['bucket', 'upload', 'size', 'download', 'removal', 'abort']

describe('backup:test', () => {
  let store: TestStore
  const opened: CommandLine[] = []
  const commandLine = async (environment: Record<string, string>) => {
    const cli = await openCommandLine(environment)
    opened.push(cli)
    return cli
  }

  beforeAll(async () => {
    store = await openTestStore()
  })
  afterAll(() => store.close())
  afterEach(async () => {
    for (const cli of opened.splice(0)) await cli.remove()
  })

  it('does with the store whatever backups need, and leaves nothing there', async () => {
    const cli = await commandLine(environmentOf(store.options))
    const { code, body } = await cli.json('backup:test', '--create')
    expect(body.checks.map(({ name, state }: { name: string; state: string }) => [name, state])).toEqual([
      ...names.map((name) => [name, 'ok']),
      ['store address', 'warn'],
    ])
    expect(code).toBe(0)
    const sent = store.requests.filter((request) => request.startsWith('PUT'))
    expect(sent.map((request) => /partNumber=(\d)/.exec(request)?.[1])).toEqual(['1', '2', '1'])
    const listing = await fetch(`${store.options.endpoint}/archives`, {
      headers: { authorization: `AWS4-HMAC-SHA256 Credential=${store.options.accessKeyId}/` },
    })
    expect(await listing.text()).not.toContain('<Key>')
  })

  it('says in words at which step the store fails, and goes no further', async () => {
    const odd = await openStubStore((request, response) => {
      const isOpening = request.method === 'POST' && request.url?.includes('uploads')
      response.setHeader('content-type', 'application/xml')
      if (request.method === 'HEAD') response.end()
      else if (isOpening)
        response.end('<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>')
      else response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>No.</Message></Error>')
    })
    const cli = await commandLine(environmentOf(odd.options))
    const { code, stdout } = await cli.panel('backup:test', '--create')
    await odd.close()
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^ok +bucket +answered in \d+ ms\nfail +upload +part 1 was answered with 403 \(AccessDenied\)\nwarn +store address .*\n$/,
    )
    expect(odd.requests.some((request) => request.startsWith('DELETE'))).toBe(true)
  })

  it("says, as doctor does, when the store's host is private, and what newer daemons need then", async () => {
    const cli = await commandLine(environmentOf(store.options))
    const host = new URL(store.options.endpoint ?? '').hostname
    for (const verb of ['doctor', 'backup:test']) {
      const { stdout } = await cli.panel(verb, '--create')
      expect(stdout).toMatch(/^warn +store address .*restore_host_allowlist/m)
      expect(stdout).toContain(`configuration names ${host}`)
    }
  })

  it.each([
    ['https://198.41.0.4', 'http://panel.test', []],
    ['https://[2001:503:ba3e::2:30]', 'http://panel.test', []],
    ['http://10.0.0.7:9000', 'http://panel.test', ['warn']],
    ['http://[fd00::7]:9000', 'http://panel.test', ['warn']],
    ['http://100.64.0.7', 'http://panel.test', ['warn']],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080', []],
  ])('warns of addresses that are not public: %s', async (store, url, states) => {
    const objects = { multipart: {}, signedUrl: async () => `${store}/bucket/check` }
    const checks = await privateStoreChecks({ objects, config: { url } } as unknown as Panel)
    expect(checks.map(({ state }) => state)).toEqual(states)
  })

  it('says that the embedded store is not served while its panel does not run', async () => {
    const cli = await commandLine({})
    const { code, stdout } = await cli.panel('backup:test', '--create')
    expect(stdout).toMatch(/^ok +bucket .*\nfail +upload .*\nThe embedded store needs a running panel.\n$/)
    expect(code).toBe(1)
  })
})
