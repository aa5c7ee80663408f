import { describe, expect, it } from 'vitest'
import { requestOf } from '../../src/web/home/home-request.ts'
import { isFiltered, noFilters, readHomeSearch } from '../../src/web/home/home-search.ts'

describe('the address of the home page', () => {
  it('keeps what differs from the default, and ignores what is invalid', () => {
    const search = { q: 25565, scope: 'owner', state: 'running', node: 'Node 1', egg: 'Paper', sort: 'name' }
    expect(readHomeSearch({ ...search, place: 7, page: 3 })).toEqual({ ...search, q: '25565', place: 7 })
    expect(
      readHomeSearch({ scope: 'accessible', sort: 'running', state: 'asleep', place: 'x', node: '' }),
    ).toEqual({})
    expect(readHomeSearch({ place: 'favourites', owner: 'hana' })).toEqual({
      place: 'favourites',
      owner: 'hana',
    })
  })

  it('asks the panel for running servers first, among all servers by one field', () => {
    expect(requestOf({})).toEqual({ scope: 'accessible', sort: '-state,name' })
    expect(requestOf({ scope: 'admin-all' })).toEqual({ scope: 'admin-all', sort: '-state' })
    expect(requestOf({ sort: 'listed', place: 3, q: 'a' })).toEqual({
      scope: 'accessible',
      sort: '',
      folder: 3,
      search: 'a',
    })
    expect(requestOf({ place: 'favourites' })).toMatchObject({ isFavourite: true })
  })

  it('knows what filters, which a folder and an order do not', () => {
    expect(isFiltered({ place: 3, sort: 'name', scope: 'owner' })).toBe(false)
    for (const search of [
      { q: 'a' },
      { state: 'running' },
      { node: 'a' },
      { egg: 'a' },
      { owner: 'a' },
    ] as const) {
      expect(isFiltered(search)).toBe(true)
      expect(readHomeSearch({ ...search, ...noFilters })).toEqual({})
    }
  })
})
