import { Link } from '@tanstack/react-router'
import { File, FileArchive, FileSymlink, FileWarning, Folder } from 'lucide-react'
import { memo, type ReactNode, useRef } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import type { FileEntry } from '../../api/files.ts'
import { formatBytes } from '../../app/formats.ts'
import { classNames } from '../../components/class-names.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Checkbox } from '../../components/switch.tsx'
import { useServer } from '../server-context.tsx'
import { isArchive, kindOf } from './entries.ts'
import { FileMenu } from './file-menu.tsx'
import { useCanSelect, useFilePermissions, useFiles } from './files-context.tsx'
import { joinPath } from './paths.ts'
import { rowGrid, rowHeight } from './row-layout.ts'

type RowProps = {
  entry: FileEntry
  /** Position in the filtered list. */
  index: number
  /** Pixels from the top of the table. */
  offset: number
  isSelected: boolean
  onSelect: (name: string, isSelected: boolean, isRange: boolean) => void
}

/** One entry of a folder. Memoized, so that rows are not rendered again while the list scrolls. */
export const FileRow = memo(function FileRow({ entry, index, offset, isSelected, onSelect }: RowProps) {
  const { t } = useTranslation('files')
  const isRange = useRef(false)
  const canSelect = useCanSelect()
  const size = entry.is_file ? formatBytes(entry.size) : ''
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      style={{ height: rowHeight, transform: `translateY(${offset}px)` }}
      className={classNames(
        rowGrid,
        'absolute inset-x-0 top-0 border-b border-line last:border-b-0',
        isSelected ? 'bg-brand-soft' : 'hover:bg-raised',
      )}
    >
      <div role="cell" onClickCapture={(event) => (isRange.current = event.shiftKey)}>
        {canSelect && (
          <Checkbox
            label={t('select', { name: entry.name })}
            hideLabel
            checked={isSelected}
            onChange={(next) => onSelect(entry.name, next, isRange.current)}
            className="items-center justify-center p-2"
          />
        )}
      </div>
      <div role="cell" className="flex min-w-0 items-center gap-2.5">
        <EntryIcon entry={entry} />
        <div className="min-w-0 flex-1">
          <EntryName entry={entry} />
          <p className="truncate text-xs text-muted tabular-nums sm:hidden">
            {size && <span className="me-2">{size}</span>}
            <RelativeTime at={entry.modified_at} />
          </p>
        </div>
      </div>
      <div role="cell" className="hidden text-sm text-muted tabular-nums sm:block">
        {size}
      </div>
      <div role="cell" className="hidden truncate text-sm text-muted tabular-nums sm:block">
        <RelativeTime at={entry.modified_at} />
      </div>
      <div role="cell">
        <FileMenu entry={entry} />
      </div>
    </div>
  )
})

function EntryIcon({ entry }: { entry: FileEntry }) {
  const kind = kindOf(entry)
  const icon = isArchive(entry) ? FileArchive : File
  const Icon = { folder: Folder, link: FileSymlink, special: FileWarning, file: icon }[kind]
  const colour = kind === 'folder' ? 'text-brand-text' : 'text-muted'
  return <Icon aria-hidden className={classNames('size-4.5 shrink-0', colour)} />
}

/** The name of an entry, as a link when it can be opened. */
function EntryName({ entry }: { entry: FileEntry }) {
  const { t } = useTranslation('files')
  const { id } = useServer()
  const { directory } = useFiles()
  const rights = useFilePermissions()
  const path = joinPath(directory, entry.name)
  const kind = kindOf(entry)
  const style = 'block truncate rounded-control text-sm font-medium hover:underline'
  let name: ReactNode = <span className="block truncate text-sm font-medium">{entry.name}</span>
  if (kind === 'folder')
    name = (
      <Link to="/server/$server/files" params={{ server: id }} search={{ directory: path }} className={style}>
        {entry.name}
      </Link>
    )
  else if (kind !== 'special' && rights.read)
    name = (
      <Link to="/server/$server/files/edit" params={{ server: id }} search={{ file: path }} className={style}>
        {entry.name}
      </Link>
    )
  if (kind !== 'link' && kind !== 'special') return name
  return (
    <div className="flex min-w-0 items-center gap-2">
      <div className="min-w-0">{name}</div>
      <span className="shrink-0 rounded-full bg-raised px-2 text-xs text-muted">{t(`kind.${kind}`)}</span>
    </div>
  )
}
