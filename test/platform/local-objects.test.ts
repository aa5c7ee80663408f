import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { s3ObjectStore } from '../../src/adapters/objects.ts'
import { openObjectEndpoint } from '../../src/platform/local/objects/endpoint.ts'
import { inProcessHandler } from '../../src/platform/local/objects/in-process.ts'
import { startNode } from '../../src/platform/node.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { refusalOf, storeCredentials, useLocalObjects } from '../support/local-objects.ts'
import { freePort } from '../support/panel-process.ts'

const mebibyte = 1024 * 1024
const at = useLocalObjects()

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
    expect(await at.store().get(key)).toBeNull()
    await at.store().put(key, bytes, 'image/png')
    await at.store().put(`${key.slice(0, -1)}?`, Buffer.from('beside'), 'text/plain')
    const found = await at.store().get(key)
    expect(found?.contentType).toBe('image/png')
    expect(Buffer.from(found?.body ?? []).equals(bytes)).toBe(true)
    expect(await at.store().multipart.head(key)).toEqual({ size: 100_000 })
    expect((await fetch(await at.store().signedUrl(key, 60))).status).toBe(200)
    await at.store().remove(key)
    await at.store().remove(key)
    expect(await at.store().get(key)).toBeNull()
    expect(await at.store().multipart.head(key)).toBeNull()
  })

  it('is replaced as a whole, and nothing of the one before is left on the disk', async () => {
    await at.store().put('a', Buffer.from('first'), 'text/plain')
    await at.store().put('a', Buffer.from(''), 'text/html')
    expect(await at.store().get('a')).toEqual({ body: new Uint8Array(), contentType: 'text/html' })
    expect(await at.filesBelow('data')).toBe(1)
    await at.store().remove('a')
    expect([
      await at.filesBelow('data'),
      await at.filesBelow('keys'),
      await at.filesBelow('incoming'),
    ]).toEqual([0, 0, 0])
  })

  it('is always one of those that were sent, however many send and read at once', async () => {
    const contents = Array.from({ length: 12 }, (_, at) => Buffer.alloc(200_000, at))
    const one = at.store()
    await one.put('a', contents[0]!, 'text/plain')
    await Promise.all(
      contents.map(async (content) => {
        await one.put('a', content, 'text/plain')
        const { body } = (await one.get('a')) ?? { body: Buffer.from('none') }
        expect(body.length).toBe(200_000)
        expect(new Set(body).size).toBe(1)
      }),
    )
    expect(await at.filesBelow('data')).toBe(1)
  })

  it('is shown with what a browser needs, and may do nothing in one', async () => {
    await at.store().put('page.html', Buffer.from('<script>'), 'text/html')
    const link = await at.store().signedUrl('page.html', 60)
    const { headers } = await fetch(link)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html',
      'content-length': '8',
      etag: `"${createHash('md5').update('<script>').digest('hex')}"`,
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    const named = await at.ask(
      'GET',
      '/page.html?response-content-disposition=attachment%3B%20filename%3D%22a%20b%22',
    )
    expect(named.headers.get('content-disposition')).toBe('attachment; filename="a b"')
  })

  it.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=8-100', 206, '89', 'bytes 8-9/10'],
    ['bytes=5-2', 200, '0123456789', null],
    ['bytes=0-1,3-4', 200, '0123456789', null],
    ['lines=1-2', 200, '0123456789', null],
  ])('is given in part for %s', async (range, status, text, described) => {
    await at.store().put('a', Buffer.from('0123456789'), 'text/plain')
    const answer = await at.ask('GET', '/a', { headers: { range } })
    expect([answer.status, await answer.text()]).toEqual([status, text])
    expect(answer.headers.get('content-range')).toBe(described)
    expect(answer.headers.get('content-length')).toBe(String(text.length))
  })

  it('has no bytes beyond its end', async () => {
    await at.store().put('a', Buffer.from('0123456789'), 'text/plain')
    for (const range of ['bytes=10-', 'bytes=-0']) {
      expect(await refusalOf(await at.ask('GET', '/a', { headers: { range } }))).toEqual([
        416,
        'InvalidRange',
      ])
    }
  })
})

describe('an upload in parts', () => {
  const pieces = [randomBytes(5 * mebibyte), randomBytes(6 * mebibyte), randomBytes(1000)]
  const type = 'application/x-gzip'

  async function send(key: string, id: string, number: number, bytes: Buffer<ArrayBuffer>) {
    const link = await at.store().multipart.signPart(key, id, number, 60)
    const answer = await fetch(link, { method: 'PUT', body: bytes, headers: { 'content-type': type } })
    expect(answer.status).toBe(200)
    return { tag: answer.headers.get('etag') ?? '', partNumber: number }
  }

  it('becomes one object, over a restart in the middle of it', async () => {
    const id = await at.store().multipart.create('w/a.tar.gz', type)
    const [third, first] = [
      await send('w/a.tar.gz', id, 30, pieces[2]!),
      await send('w/a.tar.gz', id, 10, pieces[0]!),
    ]
    await at.restart()
    const second = await send('w/a.tar.gz', id, 20, pieces[1]!)
    expect(await at.store().multipart.complete('w/a.tar.gz', id, [third, first, second])).toBe('completed')
    await at.restart()
    const whole = Buffer.concat(pieces)
    expect(await at.store().multipart.head('w/a.tar.gz')).toEqual({ size: whole.length })
    const answer = await fetch(await at.store().signedUrl('w/a.tar.gz', 60))
    expect(answer.headers.get('content-type')).toBe(type)
    const digests = pieces.map((piece) => createHash('md5').update(piece).digest())
    expect(answer.headers.get('etag')).toBe(
      `"${createHash('md5').update(Buffer.concat(digests)).digest('hex')}-3"`,
    )
    expect(Buffer.from(await answer.arrayBuffer()).equals(whole)).toBe(true)
    const across = `bytes=${5 * mebibyte - 2}-${11 * mebibyte + 1}`
    const range = await at.ask('GET', '/w/a.tar.gz', { headers: { range: across } })
    const expected = whole.subarray(5 * mebibyte - 2, 11 * mebibyte + 2)
    expect(Buffer.from(await range.arrayBuffer()).equals(expected)).toBe(true)
    expect(await at.store().multipart.complete('w/a.tar.gz', id, [first, second, third])).toBe('gone')
    await at.store().multipart.abort('w/a.tar.gz', id)
    expect(await at.store().multipart.head('w/a.tar.gz')).toEqual({ size: whole.length })
    await at.store().remove('w/a.tar.gz')
    expect([await at.filesBelow('data'), await at.filesBelow('uploads')]).toEqual([0, 0])
  })

  it('keeps the last of several parts of one number, and only the parts that are named', async () => {
    const id = await at.store().multipart.create('a', type)
    const replaced = await send('a', id, 1, pieces[1]!)
    const kept = await send('a', id, 1, pieces[0]!)
    const left = await send('a', id, 2, pieces[2]!)
    expect(await at.store().multipart.complete('a', id, [replaced])).toBe('refused')
    expect(await at.store().multipart.complete('a', id, [kept])).toBe('completed')
    expect(left.tag).not.toBe(kept.tag)
    expect(await at.store().multipart.head('a')).toEqual({ size: 5 * mebibyte })
    expect(await at.filesBelow('data')).toBe(1)
  })

  it('is refused with parts that do not fit, and goes on afterwards', async () => {
    const id = await at.store().multipart.create('a', type)
    const small = await send('a', id, 1, pieces[2]!)
    const large = await send('a', id, 2, pieces[0]!)
    const completed = (parts: string) =>
      at.ask('POST', `/a?uploadId=${id}`, {
        body: `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts}</CompleteMultipartUpload>`,
      })
    const named = ({ tag, partNumber }: typeof small) =>
      `<Part><ETag>${tag.replaceAll('"', '&quot;')}</ETag><PartNumber>${partNumber}</PartNumber></Part>`
    expect(await refusalOf(await completed(''))).toEqual([400, 'MalformedXML'])
    expect(await refusalOf(await completed(named(large) + named(small)))).toEqual([400, 'InvalidPartOrder'])
    expect(await refusalOf(await completed(named(small) + named(large)))).toEqual([400, 'EntityTooSmall'])
    expect(await refusalOf(await completed(named({ tag: '"../../x"', partNumber: 2 })))).toEqual([
      400,
      'InvalidPart',
    ])
    expect(await at.store().get('a')).toBeNull()
    expect((await completed(named(large))).status).toBe(200)
  })

  it('is listed while it is open, and leaves nothing when it is aborted', async () => {
    const ids = [
      await at.store().multipart.create('w/1', type),
      await at.store().multipart.create('x/<2>', type),
    ]
    await send('w/1', ids[0]!, 1, pieces[2]!)
    const list = async (query: string) => {
      const xml = await (await at.ask('GET', `?uploads${query}`)).text()
      return [...xml.matchAll(/<Key>(.*?)<\/Key><UploadId>(.*?)<\/UploadId>/g)].map(([, key, id]) => [
        key,
        id,
      ])
    }
    expect(await list('')).toEqual([
      ['w/1', ids[0]],
      ['x/&lt;2&gt;', ids[1]],
    ])
    expect(await list('&prefix=w%2F')).toEqual([['w/1', ids[0]]])
    await at.store().multipart.abort('w/1', ids[0]!)
    await at.store().multipart.abort('x/<2>', ids[1]!)
    expect(await list('')).toEqual([])
    expect([
      await at.filesBelow('data'),
      await at.filesBelow('uploads'),
      await at.filesBelow('incoming'),
    ]).toEqual([0, 0, 0])
  })

  it('takes parts for its own key alone, and none that cannot be one', async () => {
    const id = await at.store().multipart.create('a', type)
    const part = (query: string, key = '/a') => at.ask('PUT', `${key}?${query}`, { body: 'x' })
    expect(await refusalOf(await part(`partNumber=1&uploadId=${id}`, '/b'))).toEqual([404, 'NoSuchUpload'])
    expect(await refusalOf(await part('partNumber=1&uploadId=..%2F..%2Fx'))).toEqual([404, 'NoSuchUpload'])
    for (const number of ['0', '10001', 'x', '1.5']) {
      expect(await refusalOf(await part(`partNumber=${number}&uploadId=${id}`))).toEqual([
        400,
        'InvalidArgument',
      ])
    }
    expect([await at.filesBelow('data'), await at.filesBelow('incoming')]).toEqual([0, 0])
  })
})

describe('the store', () => {
  it('answers for its bucket and for no other', async () => {
    await expect(at.store().ping()).resolves.toBeUndefined()
    await expect(s3ObjectStore({ ...at.options, bucket: 'other' }).ping()).rejects.toThrow()
    await rm(at.directory, { recursive: true })
    await expect(at.store().ping()).rejects.toThrow()
  })

  it.each([
    ['GET', '/a?acl'],
    ['GET', '/a?uploadId=x'],
    ['GET', ''],
    ['PUT', ''],
    ['POST', '/a'],
    ['DELETE', ''],
  ])('says so when it does not know %s %s', async (method, path) => {
    expect(await refusalOf(await at.ask(method, path))).toEqual([501, 'NotImplemented'])
  })

  it.each(['x-amz-copy-source', 'if-none-match'])('does not pass over the header %s', async (name) => {
    const answer = await at.ask('PUT', '/a', { body: 'x', headers: { [name]: '*' } })
    expect(await refusalOf(answer)).toEqual([501, 'NotImplemented'])
    expect(await at.store().get('a')).toBeNull()
  })

  it('keeps nothing of what breaks off', async () => {
    const id = await at.store().multipart.create('a', 'text/plain')
    const link = new URL(await at.store().multipart.signPart('a', id, 1, 60))
    const head = `PUT ${link.pathname}${link.search} HTTP/1.1\r\nHost: ${link.host}\r\nContent-Length: 1000000\r\n\r\n`
    const socket = connect(at.port, '127.0.0.1')
    socket.write(`${head}${'x'.repeat(100_000)}`)
    await expect.poll(() => at.filesBelow('incoming')).toBe(1)
    socket.destroy()
    await expect.poll(() => at.filesBelow('incoming')).toBe(0)
    expect(await at.filesBelow('data')).toBe(0)
  })

  it('forgets what a crash left half-arrived, but not what may still be on its way', async () => {
    const [old, young] = [join(at.directory, 'incoming', 'old'), join(at.directory, 'incoming', 'young')]
    for (const path of [old, young]) await writeFile(path, 'x')
    await utimes(old, new Date(0), new Date(0))
    await at.restart()
    expect(await readdir(join(at.directory, 'incoming'))).toEqual(['young'])
  })

  it('takes objects from its own process where its address leads nowhere', async () => {
    const url = 'https://panel.example/objects'
    const endpoint = await openObjectEndpoint({
      ...storeCredentials,
      bucket: 'panel',
      url,
      directory: at.directory,
    })
    const inside = s3ObjectStore({
      ...at.options,
      endpoint: url,
      requestHandler: inProcessHandler(endpoint),
    })
    await inside.ping()
    await inside.put('w/a b', Buffer.from('text'), 'text/plain')
    expect(Buffer.from((await inside.get('w/a b'))?.body ?? []).toString()).toBe('text')
    expect(await inside.get('w/none')).toBeNull()
    const id = await inside.multipart.create('c', 'text/plain')
    const link = await inside.multipart.signPart('c', id, 1, 60)
    const sent = await endpoint(new Request(link, { method: 'PUT', body: 'part' }))
    const parts = [{ tag: sent.headers.get('etag') ?? '', partNumber: 1 }]
    expect(await inside.multipart.complete('c', id, parts)).toBe('completed')
    expect(await inside.multipart.head('c')).toEqual({ size: 4 })
    await inside.remove('c')
    expect(await inside.multipart.head('c')).toBeNull()
  })
})

describe('the panel', () => {
  it('serves its store at its own address, over restarts', { timeout: 60_000 }, async () => {
    const data = join(at.directory, 'panel')
    const env = { HOST: '127.0.0.1', PORT: String(await freePort()), DATA_DIR: data, DEMO: 'false' }
    const start = () =>
      startNode(
        env,
        surfaces,
        async () => null,
        () => undefined,
      )
    let panel = await start()
    try {
      const health = await (await fetch(`${panel.url}/health`)).json()
      expect(health.parts.objects).toBe('ok')
      const { objects } = JSON.parse(await readFile(join(data, 'secrets.json'), 'utf8'))
      const own = s3ObjectStore({
        bucket: 'panel',
        region: 'local',
        accessKeyId: 'panel',
        secretAccessKey: objects,
        endpoint: `${panel.url}/objects`,
        pathStyle: true,
      })
      await own.put('a/b', Buffer.from('kept'), 'text/plain')
      const link = await own.signedUrl('a/b', 60)
      await panel.close()
      panel = await start()
      expect(await (await fetch(link)).text()).toBe('kept')
      expect((await fetch(`${panel.url}/objects/panel/a/b`)).status).toBe(403)
    } finally {
      await panel.close()
    }
  })
})
