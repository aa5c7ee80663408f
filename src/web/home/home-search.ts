import type { Scope } from '../api/servers.ts'

export const sorts = ['listed', 'name', 'state', 'cpu', 'memory'] as const
export type Sort = (typeof sorts)[number]

/** Scopes people choose from; the last two are for administrators. */
export const scopes = ['accessible', 'owner', 'admin', 'admin-all'] as const satisfies readonly Scope[]

/** What the address of the list says; what is left out is the usual. */
export type HomeSearch = { q?: string; scope?: Scope; sort?: Sort; page?: number }

/** Reads an address; what makes no sense there counts as left out. */
export function readHomeSearch(search: Record<string, unknown>): HomeSearch {
  const { q, page } = search
  const text = typeof q === 'string' || typeof q === 'number' ? String(q) : ''
  const scope = scopes.find((name) => name === search.scope)
  const sort = sorts.find((name) => name === search.sort)
  return {
    ...(text ? { q: text } : {}),
    ...(scope && scope !== 'accessible' ? { scope } : {}),
    ...(sort && sort !== 'listed' ? { sort } : {}),
    ...(typeof page === 'number' && Number.isInteger(page) && page > 1 ? { page } : {}),
  }
}
