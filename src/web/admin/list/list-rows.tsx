import { ArrowDown, ArrowUp } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useId } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { classNames } from '../../components/class-names.ts'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import type { Column, ListProps } from './admin-list.tsx'
import type { Selection } from './selection.ts'

type LayoutProps<Row> = Pick<ListProps<Row>, 'title' | 'columns' | 'keyOf' | 'linkTo' | 'rowActions'> & {
  rows: readonly Row[]
  selection?: Selection<Row> | undefined
  sort: string
  onSort: (sort: string) => void
}

const cell = 'px-3 py-2.5'

/** Moves the focus from the link or the check of a row to that of the next or last one by the arrow keys. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const kind = (event.target as HTMLElement).matches('[data-row-check]') ? 'data-row-check' : 'data-row-link'
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>(`[${kind}]`)]
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

/** Chooses a row. */
function RowCheck<Row>({
  row,
  rows,
  selection,
  first,
}: {
  row: Row
  rows: readonly Row[]
  selection: Selection<Row>
  first: Column<Row>
}) {
  const { t } = useTranslation('admin')
  const id = useId()
  return (
    <label className="-m-2 inline-flex p-2">
      <input
        type="checkbox"
        data-row-check
        aria-labelledby={id}
        className="size-4 accent-brand"
        checked={selection.has(row)}
        // The click of a mouse and that of the space bar say whether the shift key is held.
        onClick={(event) => selection.toggle(row, rows, event)}
        onChange={() => undefined}
      />
      <span id={id} className="sr-only">
        {t('list.choose')} {first.cell(row)}
      </span>
    </label>
  )
}

/** Chooses all rows of the page, or none. */
function PageCheck<Row>({ rows, selection }: { rows: readonly Row[]; selection: Selection<Row> }) {
  const { t } = useTranslation('admin')
  const count = rows.filter(selection.has).length
  const isAll = count === rows.length
  return (
    <label className="-m-2 inline-flex items-center gap-2 p-2 text-sm">
      <input
        type="checkbox"
        className="size-4 accent-brand"
        checked={isAll}
        ref={(box) => {
          if (box) box.indeterminate = count > 0 && !isAll
        }}
        onChange={() => selection.set(rows, !isAll)}
      />
      <span className="md:sr-only">{t('list.choose_page')}</span>
    </label>
  )
}

/** The rows of a list as a table. */
export function ListTable<Row>({
  title,
  columns,
  rows,
  sort,
  onSort,
  selection,
  ...props
}: LayoutProps<Row>) {
  const { t } = useTranslation('admin')
  const [first, ...others] = columns
  return (
    <div className="overflow-x-auto rounded-card border border-line bg-surface">
      <table className="w-full text-start text-sm">
        <caption className="sr-only">{title}</caption>
        <thead className="border-b border-line text-xs text-muted">
          <tr>
            {selection && (
              <th scope="col" className={`${cell} w-0 pe-0`}>
                <PageCheck rows={rows} selection={selection} />
              </th>
            )}
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
            <tr
              key={props.keyOf(row)}
              className={classNames('hover:bg-raised', selection?.has(row) && 'bg-brand-soft')}
            >
              {selection && (
                <td className={`${cell} pe-0`}>
                  <RowCheck row={row} rows={rows} selection={selection} first={first} />
                </td>
              )}
              <th scope="row" className={`${cell} max-w-80 min-w-32 font-normal wrap-anywhere`}>
                <RowLink to={props.linkTo?.(row)}>{first.cell(row)}</RowLink>
              </th>
              {others.map((column) => (
                <td
                  key={column.name}
                  className={classNames(
                    cell,
                    'max-w-56 wrap-break-word',
                    column.isNumber && 'text-end tabular-nums',
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
  const style = classNames(cell, 'font-medium whitespace-nowrap', isNumber && 'text-end')
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
export function ListCards<Row>({ title, columns, rows, selection, ...props }: LayoutProps<Row>) {
  const [first, ...others] = columns
  return (
    <>
      {selection && (
        <div className="px-3 pb-2">
          <PageCheck rows={rows} selection={selection} />
        </div>
      )}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the arrow keys lead from link to link */}
      <ul aria-label={title} className="flex flex-col gap-2" onKeyDown={moveFocus}>
        {rows.map((row) => (
          <li
            key={props.keyOf(row)}
            className={classNames(
              'rounded-card border p-3 text-sm',
              selection?.has(row) ? 'border-brand bg-brand-soft' : 'border-line bg-surface',
            )}
          >
            <div className="flex items-start justify-between gap-2">
              {selection && (
                <span className="pt-0.5 pe-1">
                  <RowCheck row={row} rows={rows} selection={selection} first={first} />
                </span>
              )}
              <div className="min-w-0 grow text-base wrap-anywhere">
                <RowLink to={props.linkTo?.(row)}>{first.cell(row)}</RowLink>
              </div>
              {props.rowActions && (
                <div className="-mt-1.5 -me-1.5 flex shrink-0">{props.rowActions(row)}</div>
              )}
            </div>
            <dl className="mt-1.5 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1">
              {others.map((column) => (
                <div key={column.name} className="contents">
                  <dt className="text-muted">{column.label}</dt>
                  <dd className="text-end wrap-anywhere">{column.cell(row)}</dd>
                </div>
              ))}
            </dl>
          </li>
        ))}
      </ul>
    </>
  )
}
