import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { s3ObjectStore, type UploadedPart } from '../../src/adapters/objects.ts'
import { openOddStore, openTestStore, type TestStore } from '../support/object-store.ts'

const mebibyte = 1024 * 1024
const archiveType = 'application/x-gzip'
let real: TestStore
let store: ReturnType<typeof s3ObjectStore>
const odd: TestStore[] = []

beforeAll(async () => {
  real = await openTestStore()
  store = s3ObjectStore(real.options)
})
afterAll(() => real.close())
afterEach(async () => {
  for (const each of odd.splice(0)) await each.close()
})

/** Sends a part as the stock daemon does; its tag. */
async function send(url: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const answer = await fetch(url, { method: 'PUT', body: bytes, headers: { 'content-type': archiveType } })
  expect(answer.status).toBe(200)
  return answer.headers.get('etag') ?? ''
}

async function sendAll(key: string, uploadId: string, pieces: Uint8Array<ArrayBuffer>[]) {
  const parts: UploadedPart[] = []
  for (const [at, piece] of pieces.entries()) {
    const tag = await send(await store.multipart.signPart(key, uploadId, at + 1, 600), piece)
    parts.push({ tag, partNumber: at + 1 })
  }
  return parts
}

const oddStore = async (status: number, body: string) => {
  const opened = await openOddStore((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/xml' }).end(body)
  })
  odd.push(opened)
  return { ...s3ObjectStore(opened.options).multipart, requests: opened.requests }
}

const errorXml = (code: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>No.</Message></Error>`

describe('an upload in parts', () => {
  const pieces = [new Uint8Array(5 * mebibyte).fill(1), new Uint8Array(1000).fill(2)]

  it('becomes one object of the type it was opened with, in whichever order its parts are named', async () => {
    const key = 'a1/whole.tar.gz'
    const uploadId = await store.multipart.create(key, archiveType)
    expect(await store.multipart.head(key)).toBeNull()
    const parts = await sendAll(key, uploadId, pieces)
    expect(parts[0]?.tag).toBe(`"${createHash('md5').update(pieces[0]!).digest('hex')}"`)
    expect(await store.multipart.complete(key, uploadId, parts.toReversed())).toBe('completed')
    expect(await store.multipart.head(key)).toEqual({ size: 5 * mebibyte + 1000 })
    const answer = await fetch(await store.signedUrl(key, 60))
    expect(answer.headers.get('content-type')).toBe(archiveType)
    const bytes = new Uint8Array(await answer.arrayBuffer())
    expect([bytes.length, bytes[0], bytes.at(-1)]).toEqual([5 * mebibyte + 1000, 1, 2])
  })

  it('is gone once it was completed or aborted, and may be aborted again', async () => {
    const key = 'a1/gone.tar.gz'
    const completed = await store.multipart.create(key, archiveType)
    const parts = await sendAll(key, completed, [new Uint8Array(3)])
    await store.multipart.complete(key, completed, parts)
    expect(await store.multipart.complete(key, completed, parts)).toBe('gone')
    await store.multipart.abort(key, completed)
    expect(await store.multipart.head(key)).toEqual({ size: 3 })
    const aborted = await store.multipart.create(key, archiveType)
    await store.multipart.abort(key, aborted)
    await store.multipart.abort(key, aborted)
    expect(await store.multipart.complete(key, aborted, parts)).toBe('gone')
  })

  it('is refused with parts that were never sent', async () => {
    const key = 'a1/refused.tar.gz'
    const uploadId = await store.multipart.create(key, archiveType)
    const tag = `"${'0'.repeat(32)}"`
    expect(await store.multipart.complete(key, uploadId, [{ tag, partNumber: 1 }])).toBe('refused')
  })

  it('is refused when a part but the last one is too small', async () => {
    const key = 'a1/small.tar.gz'
    const uploadId = await store.multipart.create(key, archiveType)
    const parts = await sendAll(key, uploadId, [new Uint8Array(3), new Uint8Array(3)])
    expect(await store.multipart.complete(key, uploadId, parts)).toBe('refused')
  })
})

describe('the link of a part', () => {
  const linkOf = async (seconds = 600) =>
    store.multipart.signPart(
      'a1/link.tar.gz',
      await store.multipart.create('a1/link.tar.gz', archiveType),
      1,
      seconds,
    )

  it('signs the host alone, names no checksum, and lives as long as it was asked to', async () => {
    const { searchParams } = new URL(await linkOf(3600))
    expect(searchParams.get('X-Amz-SignedHeaders')).toBe('host')
    expect(searchParams.get('X-Amz-Expires')).toBe('3600')
    expect(searchParams.get('partNumber')).toBe('1')
    expect([...searchParams.keys()].filter((name) => /checksum|crc|sha1/i.test(name))).toEqual([])
  })

  it('takes whatever type the daemon says, and opens nothing else', async () => {
    const link = await linkOf()
    const put = (url: string) => fetch(url, { method: 'PUT', body: 'x' })
    expect((await put(link)).status).toBe(200)
    expect((await fetch(link)).status).toBe(403)
    expect((await put(link.replace('partNumber=1', 'partNumber=2'))).status).toBe(403)
    expect((await put(link.replace('link.tar.gz', 'other.tar.gz'))).status).toBe(403)
    expect((await put(link.replace('X-Amz-Expires=600', 'X-Amz-Expires=60000'))).status).toBe(403)
  })
})

describe('a store with a fault', () => {
  const parts = [{ tag: '"x"', partNumber: 1 }]

  it('is heard when it says so with status 200', async () => {
    const uploads = await oddStore(200, errorXml('InternalError'))
    await expect(uploads.complete('a/b', 'id', parts)).rejects.toThrow('No.')
    expect(uploads.requests.length).toBeGreaterThan(1)
  })

  it('is not taken for one without the upload, the parts or the object', async () => {
    const uploads = await oddStore(403, errorXml('AccessDenied'))
    await expect(uploads.complete('a/b', 'id', parts)).rejects.toThrow('No.')
    await expect(uploads.abort('a/b', 'id')).rejects.toThrow('No.')
    await expect(uploads.create('a/b', archiveType)).rejects.toThrow('No.')
    await expect(uploads.head('a/b')).rejects.toThrow()
  })

  it.each(['InvalidPart', 'InvalidPartOrder', 'EntityTooSmall', 'EntityTooLarge', 'MalformedXML'])(
    'that says %s has refused the parts for good',
    async (code) => {
      const uploads = await oddStore(400, errorXml(code))
      expect(await uploads.complete('a/b', 'id', parts)).toBe('refused')
    },
  )

  it('is told from one without the upload', async () => {
    const uploads = await oddStore(404, errorXml('NoSuchUpload'))
    expect(await uploads.complete('a/b', 'id', parts)).toBe('gone')
    await uploads.abort('a/b', 'id')
  })
})
