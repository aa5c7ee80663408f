import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { untrimmed } from '../../src/domain/fields.ts'
import { defaultBodyLimit } from '../../src/http/input.ts'
import { normalise, textRuleOf } from '../../src/http/normalise.ts'
import { body } from '../../src/http/route.ts'
import { ask, json, tinyApp } from './tiny-app.ts'

const limit = 1000
const app = tinyApp()
  .post(
    '/echo',
    body(() => z.looseObject({})),
    (c) => c.json(c.req.valid('json')),
  )
  .post(
    '/exact',
    body(() => z.looseObject({}), { preserveWhitespace: true }),
    (c) => c.json(c.req.valid('json')),
  )
  .post(
    '/small',
    body(() => z.looseObject({}), { limit }),
    (c) => c.json(c.req.valid('json')),
  )

const echo = async (text: string) => ask(app, 'POST', '/echo', json(text))

/** Creates a body in pieces of ten bytes; `pulled` counts those that were read. */
function piecemeal(text: string): { stream: ReadableStream<Uint8Array>; pulled: () => number } {
  const bytes = new TextEncoder().encode(text)
  let offset = 0
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (offset >= bytes.length) return controller.close()
        controller.enqueue(bytes.slice(offset, offset + 10))
        offset += 10
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, pulled: () => offset }
}

const streamed = (stream: ReadableStream, headers: Record<string, string> = {}) =>
  ask(app, 'POST', '/small', {
    headers: { 'content-type': 'application/json', ...headers },
    body: stream,
    duplex: 'half',
  } as RequestInit)

describe('a body', () => {
  it('is read up to its limit to the byte', async () => {
    const frame = JSON.stringify({ a: '' }).length
    const fitting = JSON.stringify({ a: 'x'.repeat(limit - frame) })
    expect((await ask(app, 'POST', '/small', json(fitting))).status).toBe(200)
    expect((await ask(app, 'POST', '/small', json(`${fitting} `))).status).toBe(413)
    const wide = JSON.stringify({ a: '\u20ac'.repeat((limit - frame) / 3 + 1) })
    expect(wide.length).toBeLessThan(limit)
    expect((await ask(app, 'POST', '/small', json(wide))).status).toBe(413)
  })

  it('may be 256 KiB long unless its route says otherwise', async () => {
    const text = (length: number) => JSON.stringify({ a: 'x'.repeat(length - 8) })
    expect((await echo(text(defaultBodyLimit))).status).toBe(200)
    expect((await echo(text(defaultBodyLimit + 1))).status).toBe(413)
  })

  it('is counted as it comes, and no further than its limit', async () => {
    const short = piecemeal('{"a":"piece by piece"}')
    expect((await streamed(short.stream)).body).toEqual({ a: 'piece by piece' })
    const endless = piecemeal(JSON.stringify({ a: 'x'.repeat(1_000_000) }))
    const refused = await streamed(endless.stream)
    expect(refused).toMatchObject({
      status: 413,
      body: { errors: [{ code: 'PayloadTooLargeHttpException' }] },
    })
    expect(endless.pulled()).toBeLessThanOrEqual(limit + 20)
  })

  it('is counted whatever its Content-Length says', async () => {
    const understated = piecemeal(JSON.stringify({ a: 'x'.repeat(5000) }))
    expect((await streamed(understated.stream, { 'content-length': '10' })).status).toBe(413)
    const overstated = piecemeal('{"a":1}')
    expect((await streamed(overstated.stream, { 'content-length': '5000' })).status).toBe(200)
  })

  it('keeps letters whole that fall between two pieces', async () => {
    const { stream } = piecemeal('{"abc":"\u20ac\u{1f600}\u20ac"}')
    expect((await streamed(stream)).body).toEqual({ abc: '\u20ac\u{1f600}\u20ac' })
  })

  it.each(['', '   ', '{}', '[]', 'null'])('is an empty object when it is %j', async (text) => {
    expect(await echo(text)).toMatchObject({ status: 200, body: {} })
  })

  it.each(['"x"', '7', 'true', '["x"]', '[[]]', '[null]'])('is refused when it is %s', async (text) => {
    expect(await echo(text)).toMatchObject({
      status: 400,
      body: { errors: [{ code: 'BadRequestHttpException' }] },
    })
  })

  it.each(['{', '{"a":}', 'a=b', '\u0000', "{'a':1}"])('is refused when it is no JSON: %j', async (text) => {
    expect((await echo(text)).status).toBe(400)
  })
})

describe('the members of a body', () => {
  it('are trimmed, and nothing when nothing is left', () => {
    const value = { a: ' x ', b: '', c: ' \t\n', d: { e: [' y', ''] }, f: 0, g: false, h: null }
    expect(normalise(value)).toEqual({
      a: 'x',
      b: null,
      c: null,
      d: { e: ['y', null] },
      f: 0,
      g: false,
      h: null,
    })
  })

  it('keep their blanks where the schema says so, at any depth', () => {
    const secret = () => untrimmed(z.string().min(1))
    const schema = z
      .object({
        secret: secret(),
        maybe: secret().nullish(),
        list: z.array(z.object({ secret: secret() })),
        late: z.preprocess((value) => value, secret()),
        plain: z.string(),
      })
      .partial()
      .refine(() => true)
    const sent = { secret: ' x ', maybe: '  ', list: [{ secret: 'y ' }], late: ' z', plain: ' p ' }
    expect(normalise(sent, textRuleOf(schema))).toEqual({ ...sent, plain: 'p' })
    expect(normalise({ secret: '', maybe: '' }, textRuleOf(schema))).toEqual({
      secret: null,
      maybe: null,
    })
    expect(normalise(sent)).toMatchObject({ secret: 'x', maybe: null, list: [{ secret: 'y' }] })
  })

  it('are taken as they were sent where the route says so, whatever the content type', async () => {
    const sent = { name: ' x ', empty: '', list: [' ', { deep: 'y\n' }] }
    const init = { body: JSON.stringify(sent), headers: { 'content-type': 'text/plain' } }
    expect((await ask(app, 'POST', '/exact', init)).body).toEqual(sent)
    expect((await ask(app, 'POST', '/exact', json('{"a":"x\\u0000"}'))).status).toBe(400)
    expect((await ask(app, 'POST', '/echo', init)).body).toEqual({})
  })

  it.each([
    ['NUL', '{"a":"x\\u0000"}'],
    ['half a surrogate pair', '{"a":"\\ud800"}'],
    ['NUL in a name', '{"a\\u0000":1}'],
    ['half a surrogate pair in a name', '{"\\udc00":1}'],
    ['__proto__', '{"__proto__":{"a":1}}'],
    ['__proto__ further down', '{"a":[{"__proto__":1}]}'],
    ['constructor', '{"constructor":{"prototype":{"a":1}}}'],
    ['33 levels', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`],
    ['20,000 levels', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['more than 20,000 members', `{"a":[${'1,'.repeat(20_000)}1]}`],
  ])('are refused with %s', async (_what, text) => {
    expect((await echo(text)).status).toBe(400)
    expect(({} as { a?: unknown }).a).toBeUndefined()
  })

  it('may be nested 32 levels deep', async () => {
    expect((await echo(`${'{"a":'.repeat(32)}1${'}'.repeat(32)}`)).status).toBe(200)
  })
})
