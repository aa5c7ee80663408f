import { useNavigate, useSearch } from '@tanstack/react-router'
import type { AdminSearch } from '../admin-link.tsx'

/** Text, filters, sort, columns and page of a list, as the address of the page has them. */
export type ListSearch = {
  text: string
  filters: Record<string, string>
  /** Name of a sort of the API; a minus means descending. */
  sort: string
  /** Names of the shown columns, null for those shown by default. */
  columns: string[] | null
  page: number
}

const reserved = ['q', 'sort', 'columns', 'page']

/** Reads the state of a list from the search parameters of a page, without what does not fit. */
export function readListSearch(search: Record<string, unknown>): ListSearch {
  const textOf = (name: string) => (search[name] === undefined ? '' : String(search[name]))
  const page = Number(search.page)
  const filters = Object.keys(search)
    .filter((name) => !reserved.includes(name))
    .map((name) => [name, textOf(name)] as const)
  return {
    text: textOf('q'),
    filters: Object.fromEntries(filters),
    sort: textOf('sort'),
    columns: search.columns === undefined ? null : textOf('columns').split(',').filter(Boolean),
    page: Number.isInteger(page) && page > 1 ? page : 1,
  }
}

const searchOf = ({ text, filters, sort, columns, page }: ListSearch): AdminSearch =>
  Object.fromEntries(
    Object.entries({
      ...filters,
      q: text,
      sort,
      columns: columns === null ? '' : columns.join(',') || 'none',
      page: page > 1 ? page : '',
    }).filter(([, value]) => value !== ''),
  )

/** The state of the list of a page, and a function that changes it; anything but a new page leads to the first one. */
export function useListSearch() {
  const search = readListSearch(useSearch({ strict: false }))
  const navigate = useNavigate()
  const change = (next: Partial<ListSearch>) =>
    void navigate({
      to: '.',
      search: searchOf({ ...search, page: 1, ...next }) as never,
      replace: true,
      resetScroll: false,
    })
  return { search, change }
}
