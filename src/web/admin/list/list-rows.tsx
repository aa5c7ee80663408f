import { ArrowDown, ArrowUp } from 'lucide-react'
import type { KeyboardEvent, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { classNames } from '../../components/class-names.ts'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import type { Column, ListProps } from './admin-list.tsx'

type LayoutProps<Row> = Pick<ListProps<Row>, 'title' | 'columns' | 'keyOf' | 'linkTo' | 'rowActions'> & {
  rows: readonly Row[]
  sort: string
  onSort: (sort: string) => void
}

const cell = 'px-3 py-2.5'

/** Moves the focus from the link of a row to that of the next or last one by the arrow keys. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row-link]')]
  const at = links.indexOf(event.target as HTMLElement)
  if (step === undefined || at < 0) return
  event.preventDefault()
  links[at + step]?.focus()
}

const RowLink = ({ to, children }: { to: string | undefined; children: ReactNode }) =>
  to === undefined ? (
    <span className="font-medium">{children}</span>
  ) : (
    <AdminLink to={to} data-row-link className={linkStyle}>
      {children}
    </AdminLink>
  )

/** The rows of a list as a table. */
export function ListTable<Row>({ title, columns, rows, sort, onSort, ...props }: LayoutProps<Row>) {
  const { t } = useTranslation('admin')
  const [first, ...others] = columns
  return (
    <div className="overflow-x-auto rounded-card border border-line bg-surface">
      <table className="w-full text-left text-sm">
        <caption className="sr-only">{title}</caption>
        <thead className="border-b border-line text-xs text-muted">
          <tr>
            {columns.map((column) => (
              <ColumnHead key={column.name} column={column} sort={sort} onSort={onSort} />
            ))}
            {props.rowActions && (
              <th scope="col" className={cell}>
                <span className="sr-only">{t('list.actions')}</span>
              </th>
            )}
          </tr>
        </thead>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the arrow keys lead from link to link */}
        <tbody className="divide-y divide-line" onKeyDown={moveFocus}>
          {rows.map((row) => (
            <tr key={props.keyOf(row)} className="hover:bg-raised">
              <th scope="row" className={`${cell} max-w-80 font-normal wrap-anywhere`}>
                <RowLink to={props.linkTo?.(row)}>{first.cell(row)}</RowLink>
              </th>
              {others.map((column) => (
                <td
                  key={column.name}
                  className={classNames(
                    cell,
                    'max-w-72 wrap-anywhere',
                    column.isNumber && 'text-right tabular-nums',
                  )}
                >
                  {column.cell(row)}
                </td>
              ))}
              {props.rowActions && (
                <td className={`${cell} w-0 py-1 whitespace-nowrap`}>{props.rowActions(row)}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ColumnHead<Row>({
  column: { label, sort: by, isNumber },
  sort,
  onSort,
}: {
  column: Column<Row>
  sort: string
  onSort: (sort: string) => void
}) {
  const style = classNames(cell, 'font-medium whitespace-nowrap', isNumber && 'text-right')
  if (!by)
    return (
      <th scope="col" className={style}>
        {label}
      </th>
    )
  const isSorted = sort === by || sort === `-${by}`
  const isDescending = sort === `-${by}`
  const Arrow = isDescending ? ArrowDown : ArrowUp
  return (
    <th
      scope="col"
      className={style}
      aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : 'none'}
    >
      <button
        type="button"
        className="inline-flex items-center gap-1 rounded-sm hover:text-ink"
        onClick={() => onSort(isSorted && !isDescending ? `-${by}` : by)}
      >
        {label}
        <Arrow aria-hidden className={classNames('size-3.5', !isSorted && 'opacity-30')} />
      </button>
    </th>
  )
}

/** The rows of a list as cards, for narrow windows. */
export function ListCards<Row>({ title, columns, rows, ...props }: LayoutProps<Row>) {
  const [first, ...others] = columns
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the arrow keys lead from link to link
    <ul aria-label={title} className="flex flex-col gap-2" onKeyDown={moveFocus}>
      {rows.map((row) => (
        <li key={props.keyOf(row)} className="rounded-card border border-line bg-surface p-3 text-sm">
          <div className="flex items-start justify-between gap-2">
            <div className="min-w-0 text-base wrap-anywhere">
              <RowLink to={props.linkTo?.(row)}>{first.cell(row)}</RowLink>
            </div>
            {props.rowActions && <div className="-mt-1.5 -mr-1.5 flex shrink-0">{props.rowActions(row)}</div>}
          </div>
          <dl className="mt-1.5 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1">
            {others.map((column) => (
              <div key={column.name} className="contents">
                <dt className="text-muted">{column.label}</dt>
                <dd className="text-right wrap-anywhere">{column.cell(row)}</dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ul>
  )
}
