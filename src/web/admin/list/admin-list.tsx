import { useQuery } from '@tanstack/react-query'
import { type LucideIcon, SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminGet, adminListQuery, type AdminQuery } from '../../api/admin.ts'
import { type PageOf, rowsOf } from '../../api/resources.ts'
import { formatNumber } from '../../app/formats.ts'
import { useIsWide } from '../../app/use-is-wide.ts'
import { Button } from '../../components/button.tsx'
import { Pager } from '../../components/pager.tsx'
import { EmptyState, Loaded, Skeleton } from '../../components/states.tsx'
import { AdminPage, type Crumb } from '../admin-page.tsx'
import { ListCards, ListTable } from './list-rows.tsx'
import { type ListFilter, ListTools } from './list-tools.tsx'
import { type ListSearch, useListSearch } from './list-search.ts'
import { type Selection, useSelection } from './selection.ts'
import { SelectionBar } from './selection-bar.tsx'

export type Column<Row> = {
  name: string
  label: string
  cell: (row: Row) => ReactNode
  /** Name of the API's sort, where it has one. */
  sort?: string
  /** Whether the column shows only when it is chosen. */
  isOptional?: boolean
  /** Numbers stand at the end of their cells. */
  isNumber?: boolean
}

export type ListProps<Row> = {
  title: string
  text?: string
  icon: LucideIcon
  /** Path of the list in the Application API. */
  path: string
  /** What every request of the list asks for. */
  query?: AdminQuery
  /** Parameter that takes the search text; without it there is no search. */
  searchBy?: string
  searchLabel?: string
  filters?: readonly ListFilter[]
  /** The first one is the name of the row, and leads to `linkTo`. */
  columns: readonly [Column<Row>, ...Column<Row>[]]
  keyOf: (row: Row) => string | number
  /** Path of the page of a row, below `/admin/`. */
  linkTo?: (row: Row) => string
  /** Buttons of a row. */
  rowActions?: (row: Row) => ReactNode
  actions?: ReactNode
  /** The pages above. */
  crumbs?: readonly Crumb[]
  /** What can be done with chosen rows. */
  chosenActions?: (selection: Selection<Row>) => ReactNode
  /** Name of the list for its saved views; without it there are none. */
  views?: string
  empty: string
  refetchIntervalMs?: number
  /** Shows the list inside another page, without a heading of its own. */
  isPart?: boolean
}

const perPage = 50
/** Rows that can be chosen: as many as one request takes. */
const maxChosen = 500

const queryOf = <Row,>({ query, searchBy }: ListProps<Row>, search: ListSearch): AdminQuery => ({
  ...query,
  per_page: perPage,
  page: search.page,
  sort: search.sort || query?.sort,
  ...(searchBy ? { [searchBy]: search.text } : {}),
  ...Object.fromEntries(
    Object.entries(search.filters).map(([name, value]) => [`filter[${name}]`, value] as const),
  ),
})

/** A list of the Application API with its search, filters, sort, columns and pages, all kept in the address. */
export function AdminList<Row extends object>(props: ListProps<Row>) {
  const { t } = useTranslation('admin')
  const { search, change } = useListSearch()
  const scope = JSON.stringify([props.path, props.query, search.text, search.filters])
  const chosen = useSelection(props.keyOf, scope)
  const selection = props.chosenActions ? chosen : undefined
  const list = useQuery({
    ...adminListQuery<PageOf<Row>>(props.path, queryOf(props, search)),
    refetchInterval: props.refetchIntervalMs ?? false,
  })
  const total = list.data?.meta.pagination.total
  const text = total === undefined ? t('strings:loading') : t('list.total', { total: formatNumber(total) })
  const content = (
    <>
      <ListTools {...props} search={search} onChange={change} />
      <Loaded
        query={{ ...list, data: list.error ? undefined : list.data }}
        skeleton={<Skeleton rows={8} className="h-11" />}
      >
        {(page) => <Rows {...props} selection={selection} page={page} search={search} onChange={change} />}
      </Loaded>
      {selection && (
        <SelectionBar
          selection={selection}
          total={total ?? 0}
          max={maxChosen}
          fetchAll={async () => {
            const query = { ...queryOf(props, search), per_page: maxChosen, page: 1 }
            return rowsOf(await adminGet<PageOf<Row>>(props.path, query))
          }}
        >
          {props.chosenActions?.(selection)}
        </SelectionBar>
      )}
    </>
  )
  if (props.isPart) return content
  return (
    <AdminPage
      title={props.title}
      text={props.text ? `${props.text} ${text}` : text}
      actions={props.actions}
      {...(props.crumbs ? { crumbs: props.crumbs } : {})}
    >
      {content}
    </AdminPage>
  )
}

type RowsProps<Row> = ListProps<Row> & {
  selection: Selection<Row> | undefined
  page: PageOf<Row>
  search: ListSearch
  onChange: (change: Partial<ListSearch>) => void
}

function Rows<Row extends object>({ page, search, onChange, ...props }: RowsProps<Row>) {
  const { t } = useTranslation('admin')
  const isWide = useIsWide()
  const rows = rowsOf(page)
  if (rows.length === 0) {
    const isSearch = search.text !== '' || Object.keys(search.filters).length > 0
    return isSearch ? (
      <EmptyState icon={SearchX} title={t('list.no_match')}>
        <Button onClick={() => onChange({ text: '', filters: {} })}>{t('list.clear')}</Button>
      </EmptyState>
    ) : (
      <EmptyState icon={props.icon} title={props.empty}>
        {props.actions}
      </EmptyState>
    )
  }
  const [first, ...others] = props.columns
  const shown = [
    first,
    ...others.filter(({ name, isOptional }) => search.columns?.includes(name) ?? !isOptional),
  ] as const
  const Layout = isWide ? ListTable : ListCards
  return (
    <>
      <Layout
        {...props}
        columns={shown}
        rows={rows}
        sort={search.sort}
        onSort={(sort) => onChange({ sort })}
      />
      <Pager pagination={page.meta.pagination} onPage={(page) => onChange({ page })} />
    </>
  )
}
