import type { Scope } from '../api/servers.ts'

export const sorts = ['listed', 'name', 'state', 'cpu', 'memory'] as const
export type Sort = (typeof sorts)[number]

/** The scopes of the list; the last two are for administrators. */
export const scopes = ['accessible', 'owner', 'admin', 'admin-all'] as const satisfies readonly Scope[]

/** The search parameters of the list; a missing one has its default. */
export type HomeSearch = { q?: string; scope?: Scope; sort?: Sort; page?: number }

/** Reads the search parameters, and ignores invalid ones. */
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
