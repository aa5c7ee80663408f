import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { s3ObjectStore, type UploadedPart } from '../../src/adapters/objects.ts'
import { openStubStore, openTestStore, type TestStore } from '../support/object-store.ts'

const mebibyte = 1024 * 1024
const archiveType = 'application/x-gzip'
let real: TestStore
let store: ReturnType<typeof s3ObjectStore>
const stubs: TestStore[] = []

beforeAll(async () => {
  real = await openTestStore()
  store = s3ObjectStore(real.options)
})
afterAll(() => real.close())
afterEach(async () => {
  for (const each of stubs.splice(0)) await each.close()
})

/** Sends a part as the stock daemon does and gives its ETag. */
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

const stubUploads = async (status: number, body: string) => {
  const opened = await openStubStore((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/xml' }).end(body)
  })
  stubs.push(opened)
  return { ...s3ObjectStore(opened.options).multipart, requests: opened.requests }
}

const errorXml = (code: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>No.</Message></Error>`

describe('an object', () => {
  it.each(['a', 'a/b.png', 'Überblick 世界/(1) + 50% & ~!*\'"<x>.txt', 'a//b', '.hidden'])(
    'of the key %j is there until it is removed',
    async (key) => {
      expect(await store.get(key)).toBeNull()
      await store.put(key, Buffer.from('first'), 'text/plain')
      await store.put(key, Buffer.from('content'), 'image/png')
      const found = await store.get(key)
      expect([found?.contentType, Buffer.from(found?.body ?? []).toString()]).toEqual([
        'image/png',
        'content',
      ])
      expect(await store.multipart.head(key)).toEqual({ size: 7 })
      expect(await (await fetch(await store.signedUrl(key, 60))).text()).toBe('content')
      await store.remove(key)
      await store.remove(key)
      expect(await store.get(key)).toBeNull()
      expect(await store.multipart.head(key)).toBeNull()
    },
  )

  it('is read by its link alone, with the content type that was signed', async () => {
    await store.put('a', Buffer.from('content'), 'text/plain')
    const link = await store.signedUrl('a', 60, archiveType)
    expect((await fetch(link)).status).toBe(200)
    // The server in the tests does not honour it.
    expect(new URL(link).searchParams.get('response-content-type')).toBe(archiveType)
    for (const changed of [
      link.replace('/a?', '/b?'),
      link.replace('Expires=60', 'Expires=600'),
      link.replace('x-gzip', 'html'),
      `${link}&response-content-disposition=inline`,
    ]) {
      expect((await fetch(changed)).status).toBe(403)
    }
    expect((await fetch(link, { method: 'PUT', body: 'x' })).status).toBe(403)
    expect((await fetch(link, { method: 'DELETE' })).status).toBe(403)
  })

  it('needs a bucket, for which a ping asks', async () => {
    await expect(store.ping()).resolves.toBeUndefined()
    const other = s3ObjectStore({ ...real.options, bucket: 'other' })
    await expect(other.ping()).rejects.toThrow()
    await expect(other.put('a', Buffer.from('x'), 'text/plain')).rejects.toThrow()
  })
})

describe('an upload in parts', () => {
  const pieces = [new Uint8Array(5 * mebibyte).fill(1), new Uint8Array(1000).fill(2)]

  it('becomes one object of the type it was created with, in whatever order its parts are given', async () => {
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

  it('is gone after it was completed or aborted, and can be aborted again', async () => {
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

  it('is refused when a part other than the last is too small', async () => {
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

  it('signs only the host, has no checksum, and expires after the given time', async () => {
    const { searchParams } = new URL(await linkOf(3600))
    expect(searchParams.get('X-Amz-SignedHeaders')).toBe('host')
    expect(searchParams.get('X-Amz-Expires')).toBe('3600')
    expect(searchParams.get('partNumber')).toBe('1')
    expect([...searchParams.keys()].filter((name) => /checksum|crc|sha1/i.test(name))).toEqual([])
  })

  it('accepts any content type, and is valid for this part only', async () => {
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

  it('is an error also with status 200', async () => {
    const uploads = await stubUploads(200, errorXml('InternalError'))
    await expect(uploads.complete('a/b', 'id', parts)).rejects.toThrow('No.')
    expect(uploads.requests.length).toBeGreaterThan(1)
  })

  it('is not mistaken for a missing upload, part or object', async () => {
    const uploads = await stubUploads(403, errorXml('AccessDenied'))
    await expect(uploads.complete('a/b', 'id', parts)).rejects.toThrow('No.')
    await expect(uploads.abort('a/b', 'id')).rejects.toThrow('No.')
    await expect(uploads.create('a/b', archiveType)).rejects.toThrow('No.')
    await expect(uploads.head('a/b')).rejects.toThrow()
  })

  it.each(['InvalidPart', 'InvalidPartOrder', 'EntityTooSmall', 'EntityTooLarge', 'MalformedXML'])(
    'that answers %s has refused the parts',
    async (code) => {
      const uploads = await stubUploads(400, errorXml(code))
      expect(await uploads.complete('a/b', 'id', parts)).toBe('refused')
    },
  )

  it('is distinguished from a missing upload', async () => {
    const uploads = await stubUploads(404, errorXml('NoSuchUpload'))
    expect(await uploads.complete('a/b', 'id', parts)).toBe('gone')
    await uploads.abort('a/b', 'id')
  })
})
