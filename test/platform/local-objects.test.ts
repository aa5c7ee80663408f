import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDiskObjectStore } from '../../src/dev/object-store/disk-object-store.ts'
import { startNode } from '../../src/platform/node.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { useLocalObjects } from '../support/local-objects.ts'
import { freePort } from '../support/panel-process.ts'

const mebibyte = 1024 * 1024
const local = useLocalObjects()
const read = async (key: string, init: RequestInit = {}) =>
  fetch(await local.store().signedUrl(key, 60), init)

describe('an object', () => {
  it.each([
    'a',
    'a/b.png',
    'a/b',
    'Überblick 世界/(1) + 50% & ~!*\'"<x>.txt',
    'a//b/',
    '.hidden',
    'k'.repeat(1024),
  ])('of the key %j is there until it is removed', async (key) => {
    const bytes = randomBytes(100_000)
    expect(await local.store().get(key)).toBeNull()
    await local.store().put(key, bytes, 'image/png')
    await local.store().put(`${key.slice(0, -1)}?`, Buffer.from('beside'), 'text/plain')
    const found = await local.store().get(key)
    expect(found?.contentType).toBe('image/png')
    expect(Buffer.from(found?.body ?? []).equals(bytes)).toBe(true)
    expect(await local.store().multipart.head(key)).toEqual({ size: 100_000 })
    const response = await read(key)
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
    await local.store().remove(key)
    await local.store().remove(key)
    expect(await local.store().get(key)).toBeNull()
    expect(await local.store().multipart.head(key)).toBeNull()
    expect((await read(key)).status).toBe(404)
  })

  it.each(['../a', 'a/../../b', '/etc/x', '\0', '..'])('of the key %j stays in the folder', async (key) => {
    await local.store().put(key, Buffer.from('x'), 'text/plain')
    expect((await local.store().get(key))?.body).toEqual(new Uint8Array([120]))
    expect(await readdir(local.directory)).toEqual(['data', 'incoming', 'keys', 'uploads'])
    expect(await local.countFiles('.')).toBe(2)
  })

  it('is replaced as a whole, and nothing of the previous one is left on the disk', async () => {
    await local.store().put('a', Buffer.from('first'), 'text/plain')
    await local.store().put('a', Buffer.from(''), 'text/html')
    expect(await local.store().get('a')).toEqual({ body: new Uint8Array(), contentType: 'text/html' })
    expect(await local.countFiles('data')).toBe(1)
    await local.store().remove('a')
    expect(await local.countFiles('.')).toBe(0)
  })

  it('is always one of those that were put, however many put and read it at once', async () => {
    const contents = Array.from({ length: 12 }, (_, index) => Buffer.alloc(200_000, index))
    const store = local.store()
    await store.put('a', contents[0]!, 'text/plain')
    await Promise.all(
      contents.map(async (content) => {
        await store.put('a', content, 'text/plain')
        const bodies = [(await store.get('a'))?.body, new Uint8Array(await (await read('a')).arrayBuffer())]
        for (const body of bodies) {
          expect(body?.length).toBe(200_000)
          expect(new Set(body).size).toBe(1)
        }
      }),
    )
    expect(await local.countFiles('data')).toBe(1)
  })
})

describe('a download', () => {
  it('has the headers that browsers and daemons need, and cannot run as a page of the panel', async () => {
    await local.store().put("w/(1) it's.html", Buffer.from('<script>'), 'text/html')
    const expected = {
      'content-type': 'text/html',
      'content-length': '8',
      'content-disposition': "attachment; filename*=UTF-8''%281%29%20it%27s.html",
      etag: `"${createHash('md5').update('<script>').digest('hex')}"`,
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    }
    expect(Object.fromEntries((await read("w/(1) it's.html")).headers)).toMatchObject(expected)
    const head = await read("w/(1) it's.html", { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(Object.fromEntries(head.headers)).toMatchObject(expected)
  })

  it('has the content type that was signed', async () => {
    await local.store().put('a', Buffer.from('x'), 'text/plain')
    const response = await fetch(await local.store().signedUrl('a', 60, 'application/x-gzip'))
    expect(response.headers.get('content-type')).toBe('application/x-gzip')
  })

  it.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=8-100', 206, '89', 'bytes 8-9/10'],
    ['bytes=5-2', 200, '0123456789', null],
    ['bytes=0-1,3-4', 200, '0123456789', null],
    ['lines=1-2', 200, '0123456789', null],
  ])('of the range %s is answered', async (range, status, text, described) => {
    await local.store().put('a', Buffer.from('0123456789'), 'text/plain')
    const response = await read('a', { headers: { range } })
    expect([response.status, await response.text()]).toEqual([status, text])
    expect(response.headers.get('content-range')).toBe(described)
    expect(response.headers.get('content-length')).toBe(String(text.length))
  })

  it.each(['bytes=10-', 'bytes=-0'])('of the range %s, beyond the end, is refused', async (range) => {
    await local.store().put('a', Buffer.from('0123456789'), 'text/plain')
    expect((await read('a', { headers: { range } })).status).toBe(416)
  })
})

describe('an upload in parts', () => {
  const pieces = [randomBytes(5 * mebibyte), randomBytes(6 * mebibyte), randomBytes(1000)]
  const type = 'application/x-gzip'

  /** Sends a part as the stock daemon does. */
  async function send(key: string, id: string, partNumber: number, bytes: Buffer<ArrayBuffer>) {
    const link = await local.store().multipart.signPart(key, id, partNumber, 60)
    const response = await fetch(link, { method: 'PUT', body: bytes, headers: { 'content-type': type } })
    expect(response.status).toBe(200)
    return { tag: response.headers.get('etag') ?? '', partNumber }
  }

  it('becomes one object, also when the process restarts meanwhile', async () => {
    const key = 'w/a.tar.gz'
    const id = await local.store().multipart.create(key, type)
    const third = await send(key, id, 30, pieces[2]!)
    const first = await send(key, id, 10, pieces[0]!)
    expect(first.tag).toBe(`"${createHash('md5').update(pieces[0]!).digest('hex')}"`)
    await local.restart()
    const second = await send(key, id, 20, pieces[1]!)
    expect(await local.store().multipart.head(key)).toBeNull()
    expect(await local.store().multipart.complete(key, id, [third, first, second])).toBe('completed')
    await local.restart()
    const whole = Buffer.concat(pieces)
    expect(await local.store().multipart.head(key)).toEqual({ size: whole.length })
    const response = await read(key)
    expect(response.headers.get('content-type')).toBe(type)
    const digests = pieces.map((piece) => createHash('md5').update(piece).digest())
    const etag = `"${createHash('md5').update(Buffer.concat(digests)).digest('hex')}-3"`
    expect(response.headers.get('etag')).toBe(etag)
    expect(Buffer.from(await response.arrayBuffer()).equals(whole)).toBe(true)
    expect(Buffer.from((await local.store().get(key))?.body ?? []).equals(whole)).toBe(true)
    const across = `bytes=${5 * mebibyte - 2}-${11 * mebibyte + 1}`
    const range = await read(key, { headers: { range: across } })
    const expected = whole.subarray(5 * mebibyte - 2, 11 * mebibyte + 2)
    expect(Buffer.from(await range.arrayBuffer()).equals(expected)).toBe(true)
    expect(await local.store().multipart.complete(key, id, [first, second, third])).toBe('gone')
    await local.store().multipart.abort(key, id)
    expect(await local.store().multipart.head(key)).toEqual({ size: whole.length })
    await local.store().remove(key)
    expect(await local.countFiles('.')).toBe(0)
  })

  it('keeps the last of several parts of one number, and only the parts that are named', async () => {
    const id = await local.store().multipart.create('a', type)
    const replaced = await send('a', id, 1, pieces[1]!)
    const kept = await send('a', id, 1, pieces[0]!)
    await send('a', id, 2, pieces[2]!)
    expect(await local.store().multipart.complete('a', id, [replaced])).toBe('refused')
    expect(await local.store().multipart.complete('a', id, [kept])).toBe('completed')
    expect(await local.store().multipart.head('a')).toEqual({ size: 5 * mebibyte })
    expect(await local.countFiles('data')).toBe(1)
  })

  it('is refused with parts that do not fit, and can be completed afterwards', async () => {
    const id = await local.store().multipart.create('a', type)
    const small = await send('a', id, 1, pieces[2]!)
    const large = await send('a', id, 2, pieces[0]!)
    const complete = (...parts: (typeof small)[]) => local.store().multipart.complete('a', id, parts)
    expect(await complete()).toBe('refused')
    expect(await complete(small, large)).toBe('refused')
    expect(await complete(large, large)).toBe('refused')
    expect(await complete({ tag: '"../../x"', partNumber: 2 })).toBe('refused')
    expect(await complete({ tag: large.tag, partNumber: 3 })).toBe('refused')
    expect(await local.store().get('a')).toBeNull()
    expect(await complete(large)).toBe('completed')
  })

  it('is listed while it is open, and leaves nothing when it is aborted', async () => {
    const { multipart } = local.store()
    const before = Date.now()
    const ids = [await multipart.create('x/<2>', type), await multipart.create('w/1', type)]
    await send('w/1', ids[1]!, 1, pieces[2]!)
    const { uploads, next } = await multipart.list(null)
    expect(next).toBeNull()
    expect(uploads.map(({ key, uploadId }) => [key, uploadId])).toEqual([
      ['w/1', ids[1]],
      ['x/<2>', ids[0]],
    ])
    for (const { startedAt } of uploads) expect(startedAt.getTime()).toBeGreaterThanOrEqual(before)
    await multipart.abort('w/1', ids[1]!)
    await multipart.abort('w/1', ids[1]!)
    await multipart.abort('x/<2>', ids[0]!)
    expect((await multipart.list(null)).uploads).toEqual([])
    expect(await local.countFiles('.')).toBe(0)
  })

  it('takes parts for its own key alone, and none after its end', async () => {
    const { multipart } = local.store()
    const id = await multipart.create('a', type)
    const put = async (key: string, uploadId: string) =>
      fetch(await multipart.signPart(key, uploadId, 1, 60), { method: 'PUT', body: 'x' })
    expect((await put('b', id)).status).toBe(404)
    expect((await put('a', '../../x')).status).toBe(404)
    await multipart.abort('b', id)
    expect((await put('a', id)).status).toBe(200)
    await multipart.abort('a', id)
    expect((await put('a', id)).status).toBe(404)
    expect(await local.countFiles('.')).toBe(0)
  })

  it('that a crash left open after it was completed is gone', async () => {
    const { multipart } = local.store()
    const id = await multipart.create('a', type)
    const path = join(local.directory, 'uploads', `${id}.json`)
    const record = await readFile(path)
    const part = await send('a', id, 1, pieces[2]!)
    expect(await multipart.complete('a', id, [part])).toBe('completed')
    await writeFile(path, record)
    expect(await multipart.complete('a', id, [part])).toBe('gone')
    expect((await multipart.list(null)).uploads).toEqual([])
    expect(await multipart.head('a')).toEqual({ size: 1000 })
  })
})

describe('the store', () => {
  it('answers a ping while its folder is there', async () => {
    await expect(local.store().ping()).resolves.toBeUndefined()
    await rm(local.directory, { recursive: true })
    await expect(local.store().ping()).rejects.toThrow('ENOENT')
  })

  it('removes what a crash has left half received, but nothing that may still be written', async () => {
    const [old, young] = [
      join(local.directory, 'incoming', 'old'),
      join(local.directory, 'incoming', 'young'),
    ]
    for (const path of [old, young]) await writeFile(path, 'x')
    await utimes(old, new Date(0), new Date(0))
    await local.restart()
    expect(await readdir(join(local.directory, 'incoming'))).toEqual(['young'])
  })

  it('is used by its process where its address leads nowhere', async () => {
    const url = 'https://panel.example/objects'
    const { store, handleRequest } = await openDiskObjectStore({
      directory: local.directory,
      url,
      secret: 'secret',
      onError: () => undefined,
    })
    await store.put('w/a b', Buffer.from('text'), 'text/plain')
    expect(Buffer.from((await store.get('w/a b'))?.body ?? []).toString()).toBe('text')
    const id = await store.multipart.create('c', 'text/plain')
    const link = await store.multipart.signPart('c', id, 1, 60)
    expect(link.startsWith(`${url}/c?`)).toBe(true)
    const sent = await handleRequest(new Request(link, { method: 'PUT', body: 'part' }))
    const parts = [{ tag: sent.headers.get('etag') ?? '', partNumber: 1 }]
    expect(await store.multipart.complete('c', id, parts)).toBe('completed')
    expect(await (await handleRequest(new Request(await store.signedUrl('c', 60)))).text()).toBe('part')
  })
})

describe('the panel', () => {
  it('serves its store at its own address, over restarts', { timeout: 60_000 }, async () => {
    const data = join(local.directory, 'panel')
    const env = { HOST: '127.0.0.1', PORT: String(await freePort()), DATA_DIR: data, DEMO: 'false' }
    const start = () => startNode(env, surfaces, async () => null, { log: () => undefined })
    let panel = await start()
    try {
      const health = await (await fetch(`${panel.url}/health`)).json()
      expect(health.parts.objects).toBe('ok')
      const { objects } = JSON.parse(await readFile(join(data, 'secrets.json'), 'utf8'))
      const { store } = await openDiskObjectStore({
        directory: join(data, 'objects'),
        url: `${panel.url}/objects`,
        secret: objects,
        onError: () => undefined,
      })
      await store.put('a/b', Buffer.from('kept'), 'text/plain')
      const link = await store.signedUrl('a/b', 60)
      await panel.close()
      panel = await start()
      expect(await (await fetch(link)).text()).toBe('kept')
      expect((await fetch(`${panel.url}/objects/a/b`)).status).toBe(403)
    } finally {
      await panel.close()
    }
  })
})
