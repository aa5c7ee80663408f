import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSession } from '../../src/domain/auth/sessions.ts'
import { compressAnswers } from '../../src/platform/compress-answers.ts'
import { listenHttp } from '../../src/platform/node-http.ts'
import { serve } from '../../src/platform/serve.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { makeApplicationToken, makeClientToken, makeLocation, makeNode } from '../support/factories.ts'
import { makeServer, makeUser } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let listener: Awaited<ReturnType<typeof listenHttp>>
let token: string

/** Opens a port that answers with an app of the Node process. */
const open = (app: Pick<Hono, 'fetch'>) =>
  listenHttp({ HOST: '127.0.0.1', PORT: 0 }, (request) => app.fetch(request))

beforeEach(async () => {
  listener = await open(
    serve(
      {
        services: async () => world.services,
        clientAddress: () => '192.0.2.1',
        waitUntil: (_c, work) => void world.background.push(...work),
        compress: compressAnswers,
      },
      ...surfaces,
    ) as unknown as Hono,
  )
  token = await makeApplicationToken(world)
  for (let n = 0; n < 30; n += 1) await makeLocation(world, { long: `A location with the number ${n}` })
})
afterEach(() => listener.close(Date.now()))

type RawAnswer = { status: number | undefined; headers: Headers; bytes: Buffer }

/** Sends a request and reads the bytes of its answer as they were sent. */
async function send(
  { port }: { port: number },
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<RawAnswer> {
  const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent: false }).end()
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  const sent = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  )
  return { status: incoming.statusCode, headers: new Headers(sent), bytes: await buffer(incoming) }
}

const get = (path: string, headers: Record<string, string> = {}) => send(listener, path, headers)
const locations = (headers: Record<string, string> = {}) =>
  get('/api/application/locations', { authorization: `Bearer ${token}`, ...headers })
const encodingOf = ({ headers }: RawAnswer) => headers.get('content-encoding')

describe('JSON and HTML are compressed on Node', () => {
  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('JSON with %s, to the same bytes', async (encoding, decompress) => {
    const plain = await locations()
    expect([encodingOf(plain), plain.headers.get('vary')]).toEqual([null, 'Accept-Encoding'])
    const packed = await locations({ 'accept-encoding': encoding })
    expect(packed.status).toBe(200)
    expect(encodingOf(packed)).toBe(encoding)
    expect(packed.headers.get('vary')).toBe('Accept-Encoding')
    expect(packed.headers.get('content-length')).toBe(String(packed.bytes.byteLength))
    expect(packed.bytes.byteLength).toBeLessThan(plain.bytes.byteLength / 2)
    expect(decompress(packed.bytes).equals(plain.bytes)).toBe(true)
    for (const name of ['content-type', 'cache-control', 'x-content-type-options', 'content-security-policy'])
      expect(packed.headers.get(name), name).toBe(plain.headers.get(name))
  })

  it.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, br;q=0.5', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['GZIP', 'gzip'],
    ['identity', null],
    ['deflate', null],
    ['br;q=0, gzip;q=0', null],
    ['', null],
  ])('in the encoding that the caller prefers: %j', async (accepted, encoding) => {
    expect(encodingOf(await locations({ 'accept-encoding': accepted }))).toBe(encoding)
  })

  it('a page, with its cookies', async () => {
    const plain = await get('/auth/login')
    const packed = await get('/auth/login', { 'accept-encoding': 'br', 'sec-fetch-site': 'none' })
    expect(encodingOf(packed)).toBe('br')
    expect(brotliDecompressSync(packed.bytes).toString()).toContain('<!doctype html>')
    const names = (answer: RawAnswer) =>
      answer.headers.getSetCookie().map((cookie) => cookie.slice(0, cookie.indexOf('=')))
    expect(names(packed)).toEqual(names(plain))
    expect(names(packed).length).toBeGreaterThan(0)
  })

  it('from 1 KiB on', async () => {
    const small = await get('/health', { 'accept-encoding': 'br' })
    expect(small.bytes.byteLength).toBeLessThan(1024)
    expect(encodingOf(small)).toBeNull()
    expect(JSON.parse(small.bytes.toString())).toMatchObject({ version: expect.any(String) })
  })

  it('but no contents of files', async () => {
    const owner = await makeUser(world)
    const node = await makeNode(world, { daemonListen: daemon.port })
    const server = await makeServer(world, { owner, node })
    daemon.respond(({ path }) =>
      path.includes('/contents')
        ? { text: 'line\n'.repeat(1000), headers: { 'content-type': 'text/plain' } }
        : { json: [{ name: 'a.txt', size: 5000, file: true, directory: false, mime: 'text/plain' }] },
    )
    const answer = await get(`/api/client/servers/${server.uuid}/files/contents?file=a.txt`, {
      authorization: `Bearer ${await makeClientToken(world, owner)}`,
      'accept-encoding': 'br, gzip',
    })
    expect([answer.status, encodingOf(answer), answer.bytes.byteLength]).toEqual([200, null, 5000])
  })
})

describe('what other sites could measure (BREACH)', () => {
  let cookie: string
  beforeEach(async () => {
    const admin = await makeUser(world, { rootAdmin: true })
    const options = { userAgent: '', previous: null, remember: false }
    cookie = `roost_session=${(await createSession(world.panel, admin, options)).token}`
    for (let n = 0; n < 5; n += 1) await makeServer(world, { owner: admin })
  })

  it.each([
    ['same-origin', 'br'],
    ['none', 'br'],
    ['same-site', null],
    ['cross-site', null],
    [null, null],
  ])(
    'is not compressed: an answer with a cookie to a request from %s has the encoding %s',
    async (site, encoding) => {
      const answer = await get('/api/client', {
        cookie,
        'accept-encoding': 'br',
        ...(site === null ? {} : { 'sec-fetch-site': site }),
      })
      expect([answer.status, encodingOf(answer)]).toEqual([200, encoding])
    },
  )
})

describe('left alone is', () => {
  const large = JSON.stringify('x'.repeat(4000))
  const json = { 'content-type': 'application/json' }
  let other: typeof listener
  beforeEach(async () => {
    const app = new Hono().use(compressAnswers)
    const packed = new Uint8Array(gzipSync(large))
    app.get('/packed', (c) => c.body(packed, 200, { ...json, 'content-encoding': 'gzip' }))
    app.get('/part', (c) => c.body(large, 206, { ...json, 'content-range': 'bytes 0-4001/9000' }))
    app.get('/kept', (c) => c.body(large, 200, { ...json, 'cache-control': 'no-transform' }))
    app.get('/tagged', (c) => c.body(large, 200, { ...json, etag: '"1"' }))
    app.get('/table', (c) => c.body(large, 200, { 'content-type': 'text/csv' }))
    app.get('/lines', (c) => c.body(large, 200, { 'content-type': 'application/x-ndjson' }))
    app.get('/stream', (c) =>
      c.body(new Response(large).body as ReadableStream, 200, { ...json, 'transfer-encoding': 'chunked' }),
    )
    app.get('/plain', (c) => c.body(large, 200, json))
    app.get('/nothing', (c) => c.body(null, 204))
    other = await open(app)
  })
  afterEach(() => other.close(Date.now()))

  it.each(['/part', '/kept', '/tagged', '/table', '/lines', '/stream'])('%s', async (path) => {
    const headers = { 'accept-encoding': 'br, gzip' }
    const answer = await send(other, path, headers)
    expect([encodingOf(answer), answer.bytes.toString()]).toEqual([null, large])
  })

  it('what is compressed already, and what has no body', async () => {
    const headers = { 'accept-encoding': 'br, gzip' }
    const packed = await send(other, '/packed', headers)
    expect([encodingOf(packed), gunzipSync(packed.bytes).toString()]).toEqual(['gzip', large])
    expect((await send(other, '/nothing', headers)).status).toBe(204)
    const head = await send(other, '/plain', headers, 'HEAD')
    expect([head.status, encodingOf(head)]).toEqual([200, null])
  })
})
