import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { paginationOf, resource, timestamp, Timestamp, timestampOrNull } from '../../src/http/resource.ts'

const Thing = resource(
  'thing',
  () => z.object({ id: z.int() }),
  (row: { id: number }) => ({ id: row.id }),
)

const paginated = (page: number, perPage: number, total: number, url = 'http://panel.test/things') =>
  paginationOf({ rows: [], page, perPage, total }, url)

describe('a page', () => {
  it('links to the pages beside it', () => {
    expect(paginated(1, 10, 25).links).toEqual({ next: 'http://panel.test/things?page=2' })
    expect(paginated(2, 10, 25).links).toEqual({
      previous: 'http://panel.test/things?page=1',
      next: 'http://panel.test/things?page=3',
    })
    expect(paginated(3, 10, 25).links).toEqual({ previous: 'http://panel.test/things?page=2' })
  })

  it('keeps the query in its links but for the page', () => {
    const { links } = paginated(2, 1, 3, 'http://panel.test/things?filter[a]=x%20y&page=2&per_page=1&page=7')
    const next = new URL(links.next ?? '')
    expect([...next.searchParams]).toEqual([
      ['filter[a]', 'x y'],
      ['page', '3'],
      ['per_page', '1'],
    ])
  })

  it('is there even when there is nothing on it', () => {
    expect(paginated(1, 10, 0)).toEqual({
      total: 0,
      count: 0,
      per_page: 10,
      current_page: 1,
      total_pages: 1,
      links: {},
    })
  })

  it('beyond the last one has nothing after it', () => {
    expect(paginated(9, 10, 25)).toMatchObject({ current_page: 9, total_pages: 3, count: 0 })
    expect(paginated(9, 10, 25).links.next).toBeUndefined()
  })

  it('counts full pages exactly', () => {
    expect(paginated(1, 10, 30).total_pages).toBe(3)
    expect(paginated(1, 10, 31).total_pages).toBe(4)
  })
})

describe('a resource', () => {
  const page = { rows: [{ id: 1 }, { id: 2 }], total: 2, page: 1, perPage: 50 }

  it('names itself in every form', () => {
    expect(Thing.one({ id: 1 })).toEqual({ object: 'thing', attributes: { id: 1 } })
    expect(Thing.list(page.rows).data.map(({ object }) => object)).toEqual(['thing', 'thing'])
    expect(Thing.page(page, 'http://panel.test/things')).toMatchObject({
      object: 'list',
      meta: { pagination: { total: 2, count: 2 } },
    })
  })

  it('fits its own schemas, and nothing else does', () => {
    expect(Thing.One().safeParse(Thing.one({ id: 1 })).success).toBe(true)
    expect(Thing.List().safeParse(Thing.list(page.rows)).success).toBe(true)
    expect(Thing.Page().safeParse(Thing.page(page, 'http://panel.test/things')).success).toBe(true)
    expect(Thing.One().safeParse({ object: 'other', attributes: { id: 1 } }).success).toBe(false)
    expect(Thing.Page().safeParse(Thing.list(page.rows)).success).toBe(false)
  })
})

describe('an instant', () => {
  it('leaves in whole seconds of UTC', () => {
    const instant = new Date('2026-02-03T04:05:06.789Z')
    expect(timestamp(instant)).toBe('2026-02-03T04:05:06+00:00')
    expect(Timestamp().safeParse(timestamp(instant)).success).toBe(true)
    expect(timestampOrNull(null)).toBeNull()
  })
})
