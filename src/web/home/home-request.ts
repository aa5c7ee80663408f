import type { SummaryRequest } from '../api/server-list.ts'
import type { HomeSearch, Sort } from './home-search.ts'

/** What the panel sorts by. */
const sortNames: Record<Sort, string> = {
  running: '-state,name',
  name: 'name',
  node: 'node',
  egg: 'egg',
  listed: '',
}

/** Returns the request for the servers that the search parameters describe. */
export function requestOf(search: HomeSearch): SummaryRequest {
  const { scope = 'accessible', q, place, sort = 'running', ...filters } = search
  const isOfAll = scope.startsWith('admin')
  return {
    ...filters,
    scope,
    ...(q ? { search: q } : {}),
    ...(place === 'favourites' ? { isFavourite: true } : {}),
    ...(typeof place === 'number' ? { folder: place } : {}),
    // Of a million servers an index knows the order by one field only.
    sort: sort === 'running' && isOfAll ? '-state' : sortNames[sort],
  }
}
