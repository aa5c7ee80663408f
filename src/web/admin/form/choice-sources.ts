import { createElement } from 'react'
import { adminGet } from '../../api/admin.ts'
import { rowsOf } from '../../api/resources.ts'
import { GameIcon } from '../../games/game-icon.tsx'
import { addressOfAllocation } from '../addresses.ts'
import {
  relatedRows,
  type Allocation,
  type Egg,
  type Item,
  type List,
  type Location,
  type Nest,
  type Node,
  type PageOf,
  type Server,
  type User,
} from '../resources.ts'
import type { Choice, ChoiceSource } from './picker.tsx'

const maxChoices = 20

type Named<Row> = { path: string; choice: (row: Row) => Choice; searchBy: string }

/** Makes a source from a list of the API that can be searched. */
const sourceOf = <Row>({ path, choice, searchBy }: Named<Row>): ChoiceSource => ({
  key: [path],
  find: async (text, signal) =>
    rowsOf(await adminGet<PageOf<Row>>(path, { [searchBy]: text, per_page: maxChoices }, signal)).map(choice),
  show: async (id, signal) => choice((await adminGet<Item<Row>>(`${path}/${id}`, {}, signal)).attributes),
})

export const userChoices = sourceOf<User>({
  path: '/users',
  searchBy: 'search',
  choice: ({ id, username, email }) => ({ id: String(id), text: username, hint: email }),
})

export const serverChoices = sourceOf<Server>({
  path: '/servers',
  searchBy: 'search',
  choice: ({ id, name, identifier }) => ({ id: String(id), text: name, hint: identifier }),
})

export const nodeChoices = sourceOf<Node>({
  path: '/nodes',
  searchBy: 'search',
  choice: ({ id, name, fqdn }) => ({ id: String(id), text: name, hint: fqdn }),
})

export const locationChoices = sourceOf<Location>({
  path: '/locations',
  searchBy: 'filter[short]',
  choice: ({ id, short, long }) => ({ id: String(id), text: short, ...(long ? { hint: long } : {}) }),
})

const eggChoice = (egg: Egg, nest?: string): Choice => ({
  id: String(egg.id),
  text: egg.name,
  ...(nest ? { hint: nest } : {}),
  icon: createElement(GameIcon, { name: egg.name, icon: egg.icon }),
})

/** Fetches every egg with its nest; there are few of them. */
export async function fetchEggs(signal?: AbortSignal): Promise<{ egg: Egg; nest: Nest }[]> {
  const nests = await adminGet<PageOf<Nest>>('/nests', { include: 'eggs', per_page: 100 }, signal)
  return rowsOf(nests).flatMap((nest) => relatedRows(nest.relationships?.eggs).map((egg) => ({ egg, nest })))
}

/** Eggs, which the API lists by nest. */
export const eggChoices: ChoiceSource = {
  key: ['eggs'],
  find: async (text, signal) => {
    const wanted = text.toLowerCase()
    return (await fetchEggs(signal))
      .filter(({ egg, nest }) => `${egg.name} ${nest.name}`.toLowerCase().includes(wanted))
      .map(({ egg, nest }) => eggChoice(egg, nest.name))
  },
  show: async (id, signal) => {
    const found = (await fetchEggs(signal)).find(({ egg }) => String(egg.id) === id)
    return found ? eggChoice(found.egg, found.nest.name) : { id, text: `#${id}` }
  },
}

const allocationChoice = (allocation: Allocation): Choice => ({
  id: String(allocation.id),
  text: addressOfAllocation(allocation),
  ...(allocation.notes ? { hint: allocation.notes } : {}),
})

/** Free allocations of a node, found by their port. */
export const freeAllocationChoices = (node: string, known: readonly Allocation[] = []): ChoiceSource => ({
  key: ['allocations', node],
  find: async (text, signal) => {
    if (node === '') return []
    const port = /(\d+)$/.exec(text)?.[1]
    const query = { 'filter[server_id]': 'none', 'filter[port]': port, per_page: maxChoices }
    const free = await adminGet<PageOf<Allocation>>(`/nodes/${node}/allocations`, query, signal)
    return rowsOf(free).map(allocationChoice)
  },
  show: async (id, signal) => {
    const own = known.find((allocation) => String(allocation.id) === id)
    if (own) return allocationChoice(own)
    const all = await adminGet<List<Allocation>>(`/nodes/${node}/allocations`, { per_page: 500 }, signal)
    const found = rowsOf(all).find((allocation) => String(allocation.id) === id)
    return found ? allocationChoice(found) : { id, text: `#${id}` }
  },
})
