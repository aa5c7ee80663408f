import type { Scope } from '../api/servers.ts'

/** Orders of the list; the first is the default. */
export const sorts = ['running', 'name', 'node', 'egg', 'listed'] as const
export type Sort = (typeof sorts)[number]

/** States by which the list can be filtered. */
export const states = ['running', 'offline', 'starting', 'stopping'] as const
export type State = (typeof states)[number]

/** The scopes of the list; the last two are for administrators. */
export const scopes = ['accessible', 'owner', 'admin', 'admin-all'] as const satisfies readonly Scope[]

/** The search parameters of the list; a missing one has its default. */
export type HomeSearch = {
  q?: string
  scope?: Scope
  state?: State
  node?: string
  egg?: string
  owner?: string
  /** The user's favourites, or the id of a folder of theirs. */
  place?: 'favourites' | number
  sort?: Sort
}

/** A change of the search parameters; undefined restores the default. */
export type HomeChange = { [Key in keyof HomeSearch]: HomeSearch[Key] | undefined }

const textOf = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

/** Reads the search parameters, and ignores invalid ones. */
export function readHomeSearch(search: Record<string, unknown>): HomeSearch {
  const [q, node, egg, owner] = [search.q, search.node, search.egg, search.owner].map(textOf)
  const { place } = search
  const state = states.find((name) => name === search.state)
  const scope = scopes.find((name) => name === search.scope)
  const sort = sorts.find((name) => name === search.sort)
  return {
    ...(q ? { q } : {}),
    ...(scope && scope !== 'accessible' ? { scope } : {}),
    ...(state ? { state } : {}),
    ...(node ? { node } : {}),
    ...(egg ? { egg } : {}),
    ...(owner ? { owner } : {}),
    ...(place === 'favourites' || (typeof place === 'number' && Number.isInteger(place)) ? { place } : {}),
    ...(sort && sort !== 'running' ? { sort } : {}),
  }
}

/** Whether the list shows only some of the servers in its scope. */
export const isFiltered = ({ q, state, node, egg, owner }: HomeSearch): boolean =>
  Boolean(q ?? state ?? node ?? egg ?? owner)

/** What removes all filters. */
export const noFilters: HomeChange = {
  q: undefined,
  state: undefined,
  node: undefined,
  egg: undefined,
  owner: undefined,
}
