import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  boolean,
  coercedText,
  email,
  integer,
  pathId,
  presentNullable,
  text,
  textBetween,
} from '../../src/domain/fields.ts'
import { body, params, query } from '../../src/http/route.ts'
import { describeFailure } from '../../src/http/validation-rules.ts'
import { ask, json, tinyApp } from './tiny-app.ts'

const Input = () =>
  z.object({
    name: textBetween(2, 5).nullish(),
    note: text(3).nullish(),
    mail: email().nullish(),
    count: integer(1, 10).nullish(),
    ratio: z.number().nullish(),
    on: boolean().nullish(),
    size: integer(10, 20, { min: 'between', max: 'between' }).nullish(),
    kind: z.enum(['a', 'b']).nullish(),
    port: coercedText(5).nullish(),
    list: z.array(z.string()).nullish(),
    map: z.object({ inner: z.string() }).nullish(),
    code: z.string().regex(/^\d+$/, 'regex').nullish(),
    limit: presentNullable(integer(0)).optional(),
  })
const Strict = () =>
  z.object({
    name: z.string(),
    count: integer(),
    on: boolean(),
    kind: z.enum(['a', 'b']),
    list: z.array(z.string()),
    map: z.object({ inner: z.string() }),
    limit: presentNullable(integer(0)),
  })

const app = tinyApp()
  .post('/', body(Input), (c) => c.json(c.req.valid('json')))
  .post('/strict', body(Strict), (c) => c.json(c.req.valid('json')))
  .get(
    '/query',
    query(() => z.object({ count: integer(1) })),
    (c) => c.json(c.req.valid('query')),
  )
  .get(
    '/:id',
    params(() => z.object({ id: pathId() })),
    (c) => c.json(c.req.valid('param')),
  )

const rulesOf = async (value: unknown, path = '/') => {
  const { status, body: answer } = await ask(app, 'POST', path, json(value))
  expect(status).toBe(422)
  return answer.errors.map(
    ({ meta }: { meta: { source_field: string; rule: string } }) => `${meta.source_field} ${meta.rule}`,
  )
}

describe('a broken rule', () => {
  it.each([
    [{ name: 'x' }, 'name between'],
    [{ name: 'xxxxxx' }, 'name between'],
    [{ name: 7 }, 'name string'],
    [{ note: 'xxxx' }, 'note max'],
    [{ mail: 'no-address' }, 'mail email'],
    [{ count: 0 }, 'count min'],
    [{ count: 11 }, 'count max'],
    [{ count: 1.5 }, 'count integer'],
    [{ count: 'x' }, 'count integer'],
    [{ count: [] }, 'count integer'],
    [{ ratio: 'x' }, 'ratio numeric'],
    [{ on: 'yes' }, 'on boolean'],
    [{ on: 2 }, 'on boolean'],
    [{ size: 9 }, 'size between'],
    [{ kind: 'c' }, 'kind in'],
    [{ port: '123456' }, 'port max'],
    [{ port: {} }, 'port string'],
    [{ list: 'x' }, 'list array'],
    [{ list: ['x', 7] }, 'list.1 string'],
    [{ map: 'x' }, 'map array'],
    [{ map: {} }, 'map.inner required'],
    [{ map: { inner: null } }, 'map.inner required'],
    [{ map: { inner: '  ' } }, 'map.inner required'],
    [{ code: 'x' }, 'code regex'],
  ])('has the name that the ecosystem gives it: %j', async (value, rule) => {
    expect(await rulesOf(value)).toEqual([rule])
  })

  it('is reported for every field at once, in order', async () => {
    expect(await rulesOf({}, '/strict')).toEqual([
      'name required',
      'count required',
      'on required',
      'kind required',
      'list required',
      'map required',
      'limit present',
    ])
    expect(await rulesOf({ name: 'x', count: null, note: 'long' })).toEqual(['name between', 'note max'])
  })

  it('comes with a sentence that names the field', async () => {
    const { body: answer } = await ask(app, 'POST', '/', json({ count: 0, name: 'x' }))
    expect(answer.errors).toEqual([
      {
        code: 'ValidationException',
        status: '422',
        detail: 'The name field is out of range.',
        meta: { source_field: 'name', rule: 'between' },
      },
      {
        code: 'ValidationException',
        status: '422',
        detail: 'The count field must be at least 1.',
        meta: { source_field: 'count', rule: 'min', values: { minimum: 1 } },
      },
    ])
    expect(describeFailure('weather', 'prohibited')).toBe('The weather field is not allowed.')
    expect(describeFailure('link', 'https')).toBe('The link field must start with https://.')
    expect(describeFailure('', 'no_such_rule')).toBe('The request field is not valid.')
  })

  it('refuses queries in the same way, and paths as not found', async () => {
    const { status, body: answer } = await ask(app, 'GET', '/query?count=0')
    expect([status, answer.errors[0].meta]).toMatchObject([422, { source_field: 'count', rule: 'min' }])
    for (const id of ['0', '01', '-1', '2147483648', '99999999999', '1e3', 'abc', '1.0', '%31%00']) {
      expect((await ask(app, 'GET', `/${id}`)).status, id).toBe(404)
    }
    expect((await ask(app, 'GET', '/2147483647')).body).toEqual({ id: 2_147_483_647 })
  })
})

describe('values that mean the same', () => {
  it('are taken as what they mean', async () => {
    const { body: answer } = await ask(
      app,
      'POST',
      '/',
      json({ count: '7', on: 'true', port: 80, limit: null }),
    )
    expect(answer).toEqual({ count: 7, on: true, port: '80', limit: null })
    for (const [sent, meant] of [
      [1, true],
      ['1', true],
      [0, false],
      ['0', false],
      ['false', false],
    ]) {
      expect((await ask(app, 'POST', '/', json({ on: sent }))).body).toEqual({ on: meant })
    }
  })

  it('do not bring unknown members along', async () => {
    expect((await ask(app, 'POST', '/', json({ count: 1, id: 7, root_admin: true }))).body).toEqual({
      count: 1,
    })
  })
})
