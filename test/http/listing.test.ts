import { describe, expect, it } from 'vitest'
import { listing, type ListingOptions, parseIncludes } from '../../src/http/listing.ts'
import { ask, tinyApp } from './tiny-app.ts'

const options: ListingOptions = {
  filters: ['short', '*'],
  sorts: ['id', 'name'],
  perPage: 50,
  maxPerPage: 500,
  hasSearch: true,
}
const app = tinyApp()
  .get('/', listing(options), (c) => c.json(c.req.valid('query')))
  .get('/plain', listing({ perPage: 20, maxPerPage: 50 }), (c) => c.json(c.req.valid('query')))

const read = async (query: string, path = '/') => (await ask(app, 'GET', `${path}?${query}`)).body
const refused = async (query: string) => {
  const { status, body } = await ask(app, 'GET', `/?${query}`)
  return { status, ...body.errors[0] }
}

describe('the page of a list', () => {
  it.each([
    ['', 1, 50],
    ['page=3&per_page=7', 3, 7],
    ['page=0&per_page=0', 1, 50],
    ['page=-1&per_page=-1', 1, 50],
    ['page=x&per_page=1.5', 1, 50],
    ['page=1e3&per_page=0x10', 1, 50],
    ['per_page=501', 1, 500],
    ['per_page=999999999999999', 1, 500],
    ['page=999999999999999', 10_000_000, 50],
    ['page=99999999999999999999', 1, 50],
    ['page[]=2&per_page[a]=3', 1, 50],
    ['page=+4', 4, 50],
  ])('is brought into its bounds: %s', async (query, page, perPage) => {
    expect(await read(query)).toMatchObject({ page, perPage })
  })

  it('has the size that its route says', async () => {
    expect(await read('', '/plain')).toEqual({ page: 1, perPage: 20, filters: {}, sorts: [], search: null })
    expect(await read('per_page=51', '/plain')).toMatchObject({ perPage: 50 })
  })
})

describe('the filters of a list', () => {
  it('have alternatives, joined by commas', async () => {
    expect((await read('filter[short]=a,b,,c&filter[*]=x')).filters).toEqual({
      short: ['a', 'b', 'c'],
      '*': ['x'],
    })
  })

  it('are left out when they are empty', async () => {
    expect((await read('filter[short]=&filter=x')).filters).toEqual({})
  })

  it('are cut at 255 characters', async () => {
    const { filters } = await read(`filter[short]=${'x'.repeat(300)}`)
    expect(filters.short[0].length).toBe(255)
  })

  it.each(['filter[long]=x', 'filter[Short]=x', 'filter[toString]=x', 'filter[short]=a&filter[id]=1'])(
    'are refused when they are unknown: %s',
    async (query) => {
      const answer = await refused(query)
      expect(answer).toMatchObject({ status: '400', code: 'InvalidFilterQuery' })
      expect(answer.detail).toContain('Allowed: short, *')
    },
  )

  it('are refused when they are no text', async () => {
    expect(await refused('filter[short][]=x')).toMatchObject({ status: '400' })
  })
})

describe('the order of a list', () => {
  it('goes by fields, descending with a sign in front', async () => {
    expect((await read('sort=-id,name')).sorts).toEqual([
      { field: 'id', descending: true },
      { field: 'name', descending: false },
    ])
    expect((await read('sort=&sort=,')).sorts).toEqual([])
  })

  it('is refused when a field is unknown', async () => {
    for (const query of ['sort=short', 'sort=--id', 'sort=constructor', 'sort=id;drop']) {
      expect(await refused(query), query).toMatchObject({ status: '400', code: 'InvalidSortQuery' })
    }
  })

  it('is not asked for where a list has none', async () => {
    expect((await read('sort=anything', '/plain')).sorts).toEqual([])
  })
})

describe('the search of a list', () => {
  it('takes a hundred characters', async () => {
    expect((await read(`search=${'x'.repeat(100)}`)).search).toHaveLength(100)
    const answer = await refused(`search=${'x'.repeat(101)}`)
    expect(answer).toMatchObject({ status: '422', meta: { source_field: 'search', rule: 'max' } })
    expect(await refused('search[]=x')).toMatchObject({ meta: { source_field: 'search', rule: 'string' } })
  })

  it('is nothing when it is empty', async () => {
    expect((await read('search=')).search).toBeNull()
    expect((await read('search=x', '/plain')).search).toBeNull()
  })
})

describe('what is to be included', () => {
  it('is named by a list or joined by commas, two levels deep', () => {
    expect(parseIncludes('a, b.c,d.e.f')).toEqual(['a', 'b.c', 'd.e'])
    expect(parseIncludes(['a', 'b,c'])).toEqual(['a', 'b', 'c'])
  })

  it('is nothing when it makes no sense', () => {
    for (const value of [undefined, null, '', ',,', { a: 'b' }, [{}]])
      expect(parseIncludes(value)).toEqual([])
  })

  it('is no more than fifty names', () => {
    expect(parseIncludes('a,'.repeat(100)).length).toBe(50)
  })
})
