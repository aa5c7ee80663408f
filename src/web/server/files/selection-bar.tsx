import {
  Archive,
  Copy,
  Download,
  FolderInput,
  KeyRound,
  type LucideIcon,
  OctagonX,
  Trash,
  X,
} from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import type { FileEntry } from '../../api/files.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { kindOf } from './entries.ts'
import { useTrash } from './file-actions.ts'
import { useNodeTasks } from './node-tasks.ts'
import { useFilePermissions, useFiles, useHasTrash } from './files-context.tsx'
import { joinPath } from './paths.ts'
import { useDownload } from './use-download.ts'
import type { Selection } from './selection.ts'

/** Actions for the selected entries; stays visible while the list scrolls. */
export function SelectionBar({ selection }: { selection: Selection }) {
  const { t } = useTranslation('files')
  const { entries, open } = useFiles()
  const rights = useFilePermissions()
  const hasTrash = useHasTrash()
  const trash = useTrash()
  const work = useNodeTasks()
  const names = [...selection.names]
  if (names.length === 0) return null
  const selected = entries.filter(({ name }) => selection.names.has(name))
  return (
    <div
      role="toolbar"
      aria-label={t('selection')}
      className="sticky bottom-[calc(0.75rem+var(--bottom-bar)+var(--tray-height,0px))] z-20 flex flex-wrap items-center gap-0.5 rounded-card border border-line-strong bg-surface p-1.5 shadow-xl sm:gap-1"
    >
      <p aria-live="polite" className="me-auto px-2 text-sm font-medium tabular-nums">
        {t('selected', { count: names.length })}
      </p>
      {/* On phones the actions have a row of their own, below the number and the button that ends the selection. */}
      <div className="order-last flex w-full items-center justify-between gap-0.5 sm:order-0 sm:w-auto sm:gap-1">
        <ContentActions selected={selected} />
        {rights.update && (
          <Action icon={FolderInput} text={t('move')} onClick={() => open({ kind: 'move', names })} />
        )}
        {rights.pack && <Action icon={Archive} text={t('archive')} onClick={() => work.pack(names)} />}
        {rights.update && (
          <Action
            icon={KeyRound}
            text={t('permissions')}
            onClick={() => open({ kind: 'modes', entries: selected })}
          />
        )}
        {rights.remove && hasTrash && (
          <Action icon={Trash} text={t('to_trash')} onClick={() => trash.mutate(names)} />
        )}
        {rights.remove && (
          <Action
            icon={OctagonX}
            text={t('delete')}
            isDanger
            onClick={() => open({ kind: 'delete', names })}
          />
        )}
      </div>
      <IconButton icon={X} label={t('clear_selection')} onClick={() => selection.set([])} />
    </div>
  )
}

/** Downloads and copies what is selected. Several entries are downloaded as one archive. */
function ContentActions({ selected }: { selected: readonly FileEntry[] }) {
  const { t } = useTranslation('files')
  const { directory } = useFiles()
  const rights = useFilePermissions()
  const work = useNodeTasks()
  const { download } = useDownload()
  const names = selected.map(({ name }) => name)
  const files = selected.filter((entry) => kindOf(entry) === 'file')
  const [only] = selected.length === 1 ? files : []
  const downloadSelected = () => (only ? download(joinPath(directory, only.name)) : work.downloadAll(names))
  return (
    <>
      {rights.read && (only || rights.pack) && (
        <Action icon={Download} text={t('strings:action.download')} onClick={downloadSelected} />
      )}
      {rights.create && files.length > 0 && (
        <Action
          icon={Copy}
          text={t('copy')}
          onClick={() =>
            work.copyAll(
              files.map(({ name }) => name),
              files.length < selected.length,
            )
          }
        />
      )}
    </>
  )
}

/** Its label is shown when there is room. */
const Action = ({
  icon,
  text,
  isDanger = false,
  onClick,
}: {
  icon: LucideIcon
  text: string
  isDanger?: boolean
  onClick: () => void
}) => (
  <Button
    variant="quiet"
    icon={icon}
    aria-label={text}
    data-tooltip={text}
    onClick={onClick}
    className={classNames('min-w-9 px-2! sm:px-3!', isDanger && 'text-bad!')}
  >
    <span className="hidden 2xl:inline">{text}</span>
  </Button>
)
