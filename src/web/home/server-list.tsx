import { useRef } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { summariesPerPage, type SummaryRequest } from '../api/server-list.ts'
import { useHasSideColumn, useIsWide } from '../app/use-is-wide.ts'
import { classNames } from '../components/class-names.ts'
import type { View } from './home-tools.tsx'
import { type ListedServer, useListedServers } from './listed-server.ts'
import { ServerCard } from './server-cards.tsx'
import { rowGrid, ServerCells, TableHead } from './server-table.tsx'
import type { Selection } from './use-selection.ts'
import { useVirtualRows, type VirtualRow } from './use-virtual-rows.ts'

type ListProps = { request: SummaryRequest; total: number; view: View; selection: Selection }

/** Heights in pixels, and the gap between cards. */
const [lowestRow, lowestCard, cardGap] = [53, 148, 12]

/** Lists servers as rows or cards. Only those in view are rendered and loaded: ten and ten thousand feel alike. */
export function ServerList({ view, ...props }: ListProps) {
  return view === 'table' ? <Table {...props} /> : <Cards {...props} />
}

function Table({ request, total, selection }: Omit<ListProps, 'view'>) {
  const { t } = useTranslation('home')
  const body = useRef<HTMLDivElement>(null)
  const { rows, rowHeight, height, measure } = useVirtualRows(body, {
    count: total,
    estimate: lowestRow,
    gap: 0,
  })
  const find = useListedServers(request, pagesOf(rows, 1, total))
  return (
    <div
      role="table"
      aria-label={t('title')}
      aria-rowcount={total + 1}
      className="rounded-card border border-line bg-surface"
    >
      <div role="rowgroup">
        <TableHead />
      </div>
      <div ref={body} role="rowgroup" className="relative overflow-hidden rounded-b-card" style={{ height }}>
        {rows.map((row) => {
          const listed = find(row.index)
          return (
            <div
              key={listed?.server.uuid ?? row.index}
              ref={measure}
              role="row"
              aria-rowindex={row.index + 2}
              style={{ minHeight: rowHeight, transform: `translateY(${row.offset}px)` }}
              className={classNames(
                rowGrid,
                'absolute inset-x-0 min-h-13 border-b border-line last:border-b-0 hover:bg-raised',
                listed && selection.has(listed.server.identifier) && 'bg-brand-soft',
              )}
            >
              {listed ? (
                <ServerCells listed={listed} selection={selection} />
              ) : (
                <div role="cell" className="col-span-full h-5 animate-pulse rounded-control bg-raised" />
              )}
            </div>
          )
        })}
      </div>
    </div>
  )
}

function Cards({ request, total, selection }: Omit<ListProps, 'view'>) {
  const { t } = useTranslation('home')
  const list = useRef<HTMLDivElement>(null)
  const [isWide, isWidest] = [useIsWide(), useHasSideColumn()]
  const columns = isWidest ? 3 : isWide ? 2 : 1
  const count = Math.ceil(total / columns)
  const { rows, rowHeight, height, measure } = useVirtualRows(list, {
    count,
    estimate: lowestCard,
    gap: cardGap,
  })
  const find = useListedServers(request, pagesOf(rows, columns, total))
  return (
    <div ref={list} role="list" aria-label={t('title')} className="relative" style={{ height }}>
      {rows.map((row) => (
        <div
          key={row.index}
          ref={measure}
          role="presentation"
          style={{ minHeight: rowHeight, transform: `translateY(${row.offset}px)` }}
          className="absolute inset-x-0 grid gap-3 md:grid-cols-2 xl:grid-cols-3"
        >
          {positionsOf(row.index, columns, total).map((position) => {
            const listed = find(position)
            return (
              <div
                key={listed?.server.uuid ?? position}
                role="listitem"
                aria-setsize={total}
                aria-posinset={position + 1}
                className="min-w-0"
              >
                <CardOrPlaceholder listed={listed} selection={selection} />
              </div>
            )
          })}
        </div>
      ))}
    </div>
  )
}

const CardOrPlaceholder = ({ listed, selection }: { listed: ListedServer | null; selection: Selection }) =>
  listed ? (
    <ServerCard listed={listed} selection={selection} />
  ) : (
    <div className="h-37 animate-pulse rounded-card border border-line bg-raised" />
  )

/** Returns the positions of the servers in a row of cards. */
const positionsOf = (row: number, columns: number, total: number): number[] =>
  Array.from({ length: Math.min(columns, total - row * columns) }, (_, at) => row * columns + at)

/** Returns the pages that have the servers of these rows; the first before any is known. */
function pagesOf(rows: readonly VirtualRow[], columns: number, total: number): number[] {
  const pageOf = (position: number) => 1 + Math.floor(position / summariesPerPage)
  const lastPosition = ((rows.at(-1)?.index ?? 0) + 1) * columns - 1
  const first = pageOf((rows[0]?.index ?? 0) * columns)
  const last = pageOf(Math.max(0, Math.min(lastPosition, total - 1)))
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}
