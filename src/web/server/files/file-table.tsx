import { ArrowDown, ArrowUp } from 'lucide-react'
import { type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import type { FileEntry } from '../../api/files.ts'
import { classNames } from '../../components/class-names.ts'
import { Checkbox } from '../../components/switch.tsx'
import { type Sort, sortKeys } from './entries.ts'
import { useCanSelect } from './files-context.tsx'
import { FileRow } from './file-row.tsx'
import { rowGrid, rowHeight } from './row-layout.ts'
import type { Selection } from './selection.ts'
import { useVisibleRows } from './use-visible-rows.ts'

type TableProps = {
  /** Filtered and sorted. */
  entries: readonly FileEntry[]
  sort: Sort
  onSort: (sort: Sort) => void
  selection: Selection
}

/** Lists a folder. Only the visible rows are rendered, so that large folders stay fast. */
export function FileTable({ entries, sort, onSort, selection }: TableProps) {
  const { t } = useTranslation('files')
  const body = useRef<HTMLDivElement>(null)
  const top = usePageOffset(body)
  const { first, end } = useVisibleRows(entries.length, top)
  return (
    <div
      role="table"
      aria-label={t('title')}
      aria-rowcount={entries.length + 1}
      className="rounded-card border border-line bg-surface"
    >
      <div role="rowgroup">
        <HeaderRow entries={entries} sort={sort} onSort={onSort} selection={selection} />
      </div>
      <div
        ref={body}
        role="rowgroup"
        className="relative overflow-hidden rounded-b-card"
        style={{ height: entries.length * rowHeight }}
      >
        {entries.slice(first, end).map((entry, at) => (
          <FileRow
            key={entry.name}
            entry={entry}
            index={first + at}
            offset={(first + at) * rowHeight}
            isSelected={selection.names.has(entry.name)}
            onSelect={selection.toggle}
          />
        ))}
      </div>
    </div>
  )
}

/** Returns the distance to the top of the page in pixels, and updates it when content above changes. */
function usePageOffset(element: RefObject<HTMLElement | null>): number {
  const [offset, setOffset] = useState(0)
  useLayoutEffect(() => {
    const measure = () => {
      const box = element.current?.getBoundingClientRect()
      if (box) setOffset(Math.round(box.top + scrollY))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [element])
  return offset
}

function HeaderRow({ entries, sort, onSort, selection }: TableProps) {
  const { t } = useTranslation('files')
  const canSelect = useCanSelect()
  const selectedCount = entries.filter(({ name }) => selection.names.has(name)).length
  const isAll = selectedCount > 0 && selectedCount === entries.length
  const titles = { name: t('strings:word.name'), size: t('strings:word.size'), modified_at: t('modified') }
  return (
    <div role="row" aria-rowindex={1} className={classNames(rowGrid, 'min-h-11 border-b border-line')}>
      <div role="cell">
        {canSelect && (
          <Checkbox
            label={t('select_all')}
            hideLabel
            checked={isAll || (selectedCount > 0 ? 'indeterminate' : false)}
            disabled={entries.length === 0}
            onChange={() => selection.set(isAll ? [] : entries.map(({ name }) => name))}
            className="items-center justify-center p-2"
          />
        )}
      </div>
      <div className="flex gap-4 sm:contents" role="presentation">
        {sortKeys.map((key) => {
          const isSorted = sort.by === key
          const Arrow = sort.isDescending ? ArrowDown : ArrowUp
          return (
            <div
              key={key}
              role="columnheader"
              aria-sort={isSorted ? (sort.isDescending ? 'descending' : 'ascending') : 'none'}
            >
              <button
                type="button"
                onClick={() => onSort({ by: key, isDescending: isSorted && !sort.isDescending })}
                className="-mx-2 flex min-h-9 items-center gap-1.5 rounded-control px-2 text-xs font-medium text-muted hover:bg-raised hover:text-ink"
              >
                {titles[key]}
                {isSorted && <Arrow aria-hidden className="size-3.5" />}
              </button>
            </div>
          )
        })}
      </div>
      <div role="columnheader">
        <span className="sr-only">{t('actions')}</span>
      </div>
    </div>
  )
}
