import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { openDiskObjectStore } from '../../src/dev/object-store/disk-object-store.ts'
import { useLocalObjects } from '../support/local-objects.ts'

const local = useLocalObjects()
const put = (link: string, body: BodyInit = 'x') => fetch(link, { method: 'PUT', body })

async function partLink(seconds = 60) {
  const { multipart } = local.store()
  return multipart.signPart('a', await multipart.create('a', 'text/plain'), 1, seconds)
}

/** The status and the text of a response. */
async function refusalOf(response: Promise<Response>) {
  const { status, text } = await response.then(async (found) => ({
    status: found.status,
    text: await found.text(),
  }))
  return [status, text]
}

const mismatch = [403, 'The signature does not match this request.\n']

describe('a signed link', () => {
  it('is required', async () => {
    await local.store().put('a', Buffer.from('secret'), 'text/plain')
    for (const method of ['GET', 'PUT', 'DELETE', 'POST']) {
      expect(await refusalOf(fetch(`http://127.0.0.1:${local.port}/objects/a`, { method }))).toEqual(mismatch)
    }
    expect((await fetch(`http://127.0.0.1:${local.port}/objects/a`, { method: 'HEAD' })).status).toBe(403)
    expect(await refusalOf(fetch(`http://127.0.0.1:${local.port}/objects/%ff`))).toEqual([
      400,
      'The path is not valid UTF-8.\n',
    ])
    expect(await local.store().multipart.head('a')).toEqual({ size: 6 })
  })

  it('is valid for its method, key, parameters and time alone', async () => {
    await local.store().put('a', Buffer.from('secret'), 'text/plain')
    const link = await local.store().signedUrl('a', 60)
    const part = await partLink()
    expect((await fetch(link)).status).toBe(200)
    const changed: [string, RequestInit?][] = [
      [link.replace('/a?', '/b?')],
      [link.replace(/expires=\d/, 'expires=9')],
      [link.replace(/signature=\w{4}/, 'signature=0000')],
      [link.replace(/signature=\w+/, 'signature=')],
      [link.replace('?', '?contentType=text%2Fhtml&')],
      [`${link}&contentType=text%2Fhtml`],
      [link, { method: 'PUT', body: 'x' }],
      [link, { method: 'DELETE' }],
      [link, { method: 'POST', body: 'x' }],
      [part],
      [part.replace('partNumber=1', 'partNumber=2'), { method: 'PUT', body: 'x' }],
      [part.replace(/uploadId=\w/, 'uploadId=x'), { method: 'PUT', body: 'x' }],
      [part.replace('/a?', '/b?'), { method: 'PUT', body: 'x' }],
    ]
    for (const [url, init] of changed) expect(await refusalOf(fetch(url, init)), url).toEqual(mismatch)
    expect(await local.countFiles('incoming')).toBe(0)
  })

  it('expires', async () => {
    await local.store().put('a', Buffer.from('secret'), 'text/plain')
    const links = { read: await local.store().signedUrl('a', 60), part: await partLink(60) }
    local.clock.now = Date.now() + 58_000
    expect((await put(links.part)).status).toBe(200)
    expect((await fetch(links.read)).status).toBe(200)
    local.clock.now = Date.now() + 62_000
    expect(await refusalOf(put(links.part))).toEqual([403, 'The link has expired.\n'])
    expect(await refusalOf(fetch(links.read))).toEqual([403, 'The link has expired.\n'])
  })

  it('is valid after a restart and under every host name', async () => {
    await local.store().put('a', Buffer.from('kept'), 'text/plain')
    const links = [await local.store().signedUrl('a', 60), await partLink()] as const
    await local.restart()
    expect(await (await fetch(links[0].replace('127.0.0.1', 'localhost'))).text()).toBe('kept')
    expect((await put(links[1])).status).toBe(200)
  })

  it('is not valid in a store with another secret', async () => {
    const link = await local.store().signedUrl('a', 60)
    expect(await refusalOf(fetch(link))).toEqual([404, 'There is no such object.\n'])
    const other = await openDiskObjectStore({
      directory: local.directory,
      url: `http://127.0.0.1:${local.port}/objects`,
      secret: 'another-secret',
      onError: () => undefined,
    })
    expect(await refusalOf(other.handleRequest(new Request(link)))).toEqual(mismatch)
  })

  it('that is refused is answered although a large body is sent at once', async () => {
    const link = (await partLink()).replace(/signature=\w{4}/, 'signature=0000')
    expect((await put(link, randomBytes(20_000_000))).status).toBe(403)
  })
})

describe('a request for a signed link', () => {
  it('leaves nothing when it breaks off', async () => {
    const link = new URL(await partLink())
    const head = `PUT ${link.pathname}${link.search} HTTP/1.1\r\nHost: ${link.host}\r\nContent-Length: 1000000\r\n\r\n`
    const socket = connect(local.port, '127.0.0.1')
    socket.write(`${head}${'x'.repeat(100_000)}`)
    await expect.poll(() => local.countFiles('incoming')).toBe(1)
    socket.destroy()
    await expect.poll(() => local.countFiles('incoming')).toBe(0)
    expect(await local.countFiles('data')).toBe(0)
    expect(local.errors).toEqual([])
  })

  it('is answered with 408 after 30 seconds without a byte', async () => {
    const link = await partLink()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from('x')),
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { handleRequest } = await openDiskObjectStore({
        directory: local.directory,
        url: `http://127.0.0.1:${local.port}/objects`,
        secret: 'secret-of-the-tests',
        onError: () => undefined,
      })
      const answered = handleRequest(
        new Request(link, { method: 'PUT', body, duplex: 'half' } as RequestInit),
      )
      // The second wait is for what never comes.
      for (let rounds = 0; rounds < 100; rounds += 1) await new Promise((resolve) => setImmediate(resolve))
      await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1))
      vi.advanceTimersByTime(30_000)
      const refused = await answered
      expect([refused.status, refused.headers.get('connection')]).toEqual([408, 'close'])
      expect(await local.countFiles('incoming')).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('is answered with 500 when the disk fails, which is passed on', async () => {
    await local.store().put('a', Buffer.from('secret'), 'text/plain')
    const name = `${createHash('sha256').update('a').digest('hex')}.json`
    await writeFile(join(local.directory, 'keys', name), 'damaged')
    expect(await refusalOf(fetch(await local.store().signedUrl('a', 60)))).toEqual([
      500,
      'The object store failed.\n',
    ])
    expect(local.errors).toEqual([expect.any(SyntaxError)])
  })
})
