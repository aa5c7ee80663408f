import { Hono } from 'hono'
import { afterEach, describe, expect, it } from 'vitest'
import { answerError } from '../../src/http/errors.ts'
import { parseQuery } from '../../src/http/query-string.ts'
import { ask } from './tiny-app.ts'

const app = new Hono().get('/', (c) => c.json(parseQuery(c.req.queries())))
app.onError(answerError)
const parsed = async (query: string) => (await ask(app as never, 'GET', `/?${query}`)).body

afterEach(() => {
  delete (Object.prototype as { polluted?: unknown }).polluted
})

describe('a query', () => {
  it('nests names in brackets', async () => {
    expect(await parsed('filter[short]=a&filter[long]=b&page=2')).toEqual({
      filter: { short: 'a', long: 'b' },
      page: '2',
    })
    expect(await parsed('filter%5Bshort%5D=a')).toEqual({ filter: { short: 'a' } })
    expect(await parsed('filter[*]=a')).toEqual({ filter: { '*': 'a' } })
  })

  it('makes lists of empty brackets and of numbers', async () => {
    expect(await parsed('include[]=a&include[]=b')).toEqual({ include: ['a', 'b'] })
    expect(await parsed('ids[0]=a&ids[1]=b')).toEqual({ ids: ['a', 'b'] })
  })

  it('takes the last of equal names', async () => {
    expect(await parsed('page=1&page=2')).toEqual({ page: '2' })
  })

  it('is trimmed and decoded, and nothing when nothing is left', async () => {
    expect(await parsed('a=+x%20&b=&c&d=%20')).toEqual({ a: 'x', b: null, c: null, d: null })
    expect(await parsed('a=%E2%82%AC')).toEqual({ a: '\u20ac' })
  })

  it.each(['a.b=1', 'a[b=1', 'a]b=1', '[]=1', 'a[b]c=1', 'a%20b=1', '-=1'])(
    'leaves out %s, which is no name',
    async (query) => {
      expect(await parsed(query)).toEqual({})
    },
  )

  it.each(['a[b][c][d]=1', 'a=x%00', 'filter[a]=x%00', 'a[]=%00'])(
    'is refused when it is %s',
    async (query) => {
      expect((await ask(app as never, 'GET', `/?${query}`)).status).toBe(400)
    },
  )

  it.each([
    'filter[__proto__]=x',
    'filter[__proto__][polluted]=x',
    '__proto__[polluted]=x',
    '__proto__=x',
    'constructor[prototype][polluted]=x',
  ])('is refused when it reaches for the prototype: %s', async (query) => {
    const { status } = await ask(app as never, 'GET', `/?${query}`)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(status).toBe(400)
  })
})
