import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { listing } from '../../src/http/listing.ts'
import { body, query } from '../../src/http/route.ts'
import { ask, tinyApp } from './tiny-app.ts'

const Anything = () => z.looseObject({})
const app = tinyApp()
  .use(async (c, next) => {
    const { raw } = c.req
    // Stands for a platform that keeps the body of a GET beside the request.
    const kept = raw.headers.get('x-body')
    if (kept !== null) c.set('bodyOfGet', () => new Response(kept).body)
    await next()
  })
  .on(['POST', 'PUT', 'PATCH', 'DELETE'], '/echo', body(Anything), (c) => c.json(c.req.valid('json')))
  .post('/exact', body(Anything, { preserveWhitespace: true }), (c) => c.json(c.req.valid('json')))
  .post('/document', body(Anything, { ignoresQuery: true }), (c) => c.json(c.req.valid('json')))
  .post('/present', body(Anything, { requiresBody: true }), (c) => c.json(c.req.valid('json')))
  .post('/raw', query(Anything), async (c) =>
    c.json({ query: c.req.valid('query'), body: await c.req.text() }),
  )
  .get('/echo', query(Anything), (c) => c.json(c.req.valid('query')))
  .get('/list', listing({ perPage: 50, maxPerPage: 100, filters: ['id'] }), (c) =>
    c.json(c.req.valid('query')),
  )

const changes = ['POST', 'PUT', 'PATCH', 'DELETE']
const urlencoded = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data; boundary=edge'

const send = (method: string, path: string, type: string | null, text?: string) =>
  ask(app, method, path, {
    ...(text === undefined ? {} : { body: new TextEncoder().encode(text) }),
    headers: type === null ? {} : { 'content-type': type },
  })

const parts = (fields: [string, string][]) =>
  fields
    .map(([name, value]) => `--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join('')
    .concat('--edge--\r\n')

describe.each(changes)('the input of a %s', (method) => {
  it('is the query where there is no body', async () => {
    const { body: input } = await send(method, '/echo?signal=start&limits[memory]=128&files[]=a', null)
    expect(input).toEqual({ signal: 'start', limits: { memory: '128' }, files: ['a'] })
  })

  it.each([
    ['JSON', 'application/json', '{"a":"body","list":["x"]}'],
    ['JSON of another name', 'application/vnd.pterodactyl.v1+json', '{"a":"body","list":["x"]}'],
    ['a form', urlencoded, 'a=body&list[]=x'],
    ['a form with a character set', `${urlencoded}; charset=UTF-8`, 'a=body&list[]=x'],
    [
      'a multipart form',
      multipart,
      parts([
        ['a', 'body'],
        ['list[]', 'x'],
      ]),
    ],
  ])('is %s over the query, whole members at a time', async (_name, type, text) => {
    const { body: input } = await send(method, '/echo?a=query&b=query&list[]=y&list[]=z', type, text)
    expect(input).toEqual({ a: 'body', b: 'query', list: ['x'] })
  })

  it.each(['text/plain', 'application/octet-stream', 'text/html'])(
    'is not a body of type %s',
    async (type) => {
      expect((await send(method, '/echo?b=1', type, '{"a":1}')).body).toEqual({ b: '1' })
    },
  )

  it('is trimmed and refused alike in the query, a form and JSON', async () => {
    expect((await send(method, '/echo?a=+x+&b=', urlencoded, 'c=+y+&d=')).body).toEqual({
      a: 'x',
      b: null,
      c: 'y',
      d: null,
    })
    for (const [path, type, text] of [
      ['/echo?a=%00', null, ''],
      ['/echo', urlencoded, 'a=%00'],
      ['/echo', urlencoded, 'a[b=1'],
      ['/echo', urlencoded, '__proto__[a]=1'],
      ['/echo', urlencoded, 'a[]=1&'.repeat(20_001)],
      ['/echo', urlencoded, `a${'[b]'.repeat(40)}=1`],
      ['/echo', multipart, 'not multipart'],
      ['/echo', multipart, parts([['constructor[a]', '1']])],
      ['/echo', 'multipart/form-data', parts([['a', '1']])],
      ['/echo', 'application/json', 'a=b'],
      ['/echo', 'application/json', '["a"]'],
    ] as const) {
      expect((await send(method, path, type, text)).status, text.slice(0, 40)).toBe(400)
    }
    expect((await send(method, '/echo', urlencoded, `a=${'x'.repeat(300_000)}`)).status).toBe(413)
    expect((await send(method, '/echo', multipart, parts([['a', 'x'.repeat(300_000)]]))).status).toBe(413)
  })

  it('never changes the method of the request', async () => {
    expect((await send(method, '/echo?_method=GET', urlencoded, '_method=GET')).body).toEqual({
      _method: 'GET',
    })
  })
})

describe('the input of a route', () => {
  it('has no files of a multipart form', async () => {
    const file = '--edge\r\ncontent-disposition: form-data; name="f"; filename="a.txt"\r\n\r\nx\r\n'
    expect((await send('POST', '/echo', multipart, `${file}${parts([['a', '1']])}`)).body).toEqual({ a: '1' })
  })

  it('keeps blanks where the route does, and reads JSON that is declared as a form', async () => {
    expect((await send('POST', '/exact?q=+x+', urlencoded, 'a=+y+&b=')).body).toEqual({
      q: ' x ',
      a: ' y ',
      b: '',
    })
    expect((await send('POST', '/exact', urlencoded, '{"a":[" y"]}')).body).toEqual({ a: [' y'] })
    expect((await send('POST', '/exact', null, '{"a":1}')).body).toEqual({ a: 1 })
  })

  it('is the body alone for a document and a signed message', async () => {
    expect((await send('POST', '/document?a=1&b=2', 'application/json', '{"a":2}')).body).toEqual({ a: 2 })
  })

  it.each(['', '  ', 'null', ' null '])('is refused with 400 where a body is needed: %j', async (text) => {
    expect((await send('POST', '/present?a=1', 'application/json', text)).status).toBe(400)
    expect((await send('POST', '/present', 'application/json', '{}')).status).toBe(200)
  })

  it('leaves a raw body to its route, whatever its type', async () => {
    for (const type of ['application/json', urlencoded, multipart, 'text/plain', null]) {
      expect((await send('POST', '/raw?file=a', type, '{"file":')).body).toEqual({
        query: { file: 'a' },
        body: '{"file":',
      })
    }
  })
})

describe('the input of a GET', () => {
  const get = (path: string, kept: string, type = 'application/json') =>
    ask(app, 'GET', path, { headers: { 'x-body': kept, 'content-type': type } })

  it('is the members of a JSON body, and under them the query', async () => {
    expect((await get('/echo?a=1&b=2', '{"a":3,"c":[4]}')).body).toEqual({ a: 3, b: '2', c: [4] })
    expect((await get('/list?page=4&per_page=7', '{"page":2,"filter":{"id":5}}')).body).toMatchObject({
      page: 2,
      perPage: 7,
      filters: { id: ['5'] },
    })
  })

  it.each(['', 'null', '[]'])('is the query when the body is %j', async (kept) => {
    expect((await get('/echo?a=1', kept)).body).toEqual({ a: '1' })
  })

  it('is not a body of another type, and no broken JSON', async () => {
    expect((await get('/echo?a=1', 'a=2', urlencoded)).body).toEqual({ a: '1' })
    expect((await get('/echo', '{"a"')).status).toBe(400)
    expect((await get('/echo', '["a"]')).status).toBe(400)
    expect((await get('/echo', JSON.stringify({ a: 'x'.repeat(300_000) }))).status).toBe(413)
  })
})
