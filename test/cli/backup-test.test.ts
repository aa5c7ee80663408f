import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { S3Options } from '../../src/adapters/objects.ts'
import { openOddStore, openTestStore, type TestStore } from '../support/object-store.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'

const environmentOf = ({ bucket, region, endpoint, accessKeyId, secretAccessKey }: S3Options) => ({
  S3_PRESET: 'minio',
  S3_BUCKET: bucket,
  S3_REGION: region,
  S3_ENDPOINT: endpoint ?? '',
  S3_ACCESS_KEY_ID: accessKeyId,
  S3_SECRET_ACCESS_KEY: secretAccessKey,
})

const names = ['bucket', 'upload', 'size', 'download', 'removal', 'giving up']

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
    const { code, body } = await cli.json('backup:test')
    expect(body.checks.map(({ name, state }: { name: string; state: string }) => [name, state])).toEqual(
      names.map((name) => [name, 'ok']),
    )
    expect(code).toBe(0)
    const sent = store.requests.filter((request) => request.startsWith('PUT'))
    expect(sent.map((request) => /partNumber=(\d)/.exec(request)?.[1])).toEqual(['1', '2', '1'])
    const listing = await fetch(`${store.options.endpoint}/archives`, {
      headers: { authorization: `AWS4-HMAC-SHA256 Credential=${store.options.accessKeyId}/` },
    })
    expect(await listing.text()).not.toContain('<Key>')
  })

  it('says in words at which step the store fails, and goes no further', async () => {
    const odd = await openOddStore((request, response) => {
      const isOpening = request.method === 'POST' && request.url?.includes('uploads')
      response.setHeader('content-type', 'application/xml')
      if (request.method === 'HEAD') response.end()
      else if (isOpening)
        response.end('<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>')
      else response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>No.</Message></Error>')
    })
    const cli = await commandLine(environmentOf(odd.options))
    const { code, stdout } = await cli.panel('backup:test')
    await odd.close()
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^ok +bucket +answers within \d+ ms\nfail +upload +part 1 was answered with 403 \(AccessDenied\)\n$/,
    )
    expect(odd.requests.some((request) => request.startsWith('DELETE'))).toBe(true)
  })

  it('says that nobody serves the embedded store while its panel does not run', async () => {
    const cli = await commandLine({})
    const { code, stdout } = await cli.panel('backup:test')
    expect(stdout).toMatch(
      /^ok +bucket .*\nfail +upload .*\nThe panel serves the embedded store: does it run\?\n$/,
    )
    expect(code).toBe(1)
  })
})
