import type { Scope } from '../api/servers.ts'

export const sorts = ['listed', 'name', 'state', 'node', 'egg', 'cpu', 'memory'] as const
export type Sort = (typeof sorts)[number]

/** What the panel sorts by; of the usage only the browser knows, and only on its page. */
export const serverSorts = { name: 'name', state: '-state', node: 'node', egg: 'egg' } as const satisfies {
  [Name in Sort]?: string
}

/** States by which the list can be filtered. */
export const states = ['running', 'offline'] as const
export type State = (typeof states)[number]

/** The scopes of the list; the last two are for administrators. */
export const scopes = ['accessible', 'owner', 'admin', 'admin-all'] as const satisfies readonly Scope[]

/** The search parameters of the list; a missing one has its default. */
export type HomeSearch = {
  q?: string
  scope?: Scope
  state?: State
  node?: string
  sort?: Sort
  page?: number
}

/** Reads the search parameters, and ignores invalid ones. */
export function readHomeSearch(search: Record<string, unknown>): HomeSearch {
  const { q, page } = search
  const textOf = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  const text = textOf(q)
  const node = textOf(search.node)
  const state = states.find((name) => name === search.state)
  const scope = scopes.find((name) => name === search.scope)
  const sort = sorts.find((name) => name === search.sort)
  return {
    ...(text ? { q: text } : {}),
    ...(scope && scope !== 'accessible' ? { scope } : {}),
    ...(state ? { state } : {}),
    ...(node ? { node } : {}),
    ...(sort && sort !== 'listed' ? { sort } : {}),
    ...(typeof page === 'number' && Number.isInteger(page) && page > 1 ? { page } : {}),
  }
}
