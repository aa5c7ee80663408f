import { useQuery } from '@tanstack/react-query'
import { CornerLeftUp, Folder } from 'lucide-react'
import { useId, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { filesQuery } from '../../api/files.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { Loaded, Skeleton } from '../../components/states.tsx'
import { useServer } from '../server-context.tsx'
import { kindOf } from './entries.ts'
import { useMove } from './file-actions.ts'
import { useFiles } from './files-context.tsx'
import { joinPath, normalizePath, parentOf } from './paths.ts'

/** Asks for the folder to move the entries to: picked or typed. */
export function MoveDialog({ names, onClose }: { names: readonly string[]; onClose: () => void }) {
  const { t } = useTranslation('files')
  const { directory } = useFiles()
  const form = useId()
  const [path, setPath] = useState(directory)
  const [openFolder, setOpenFolder] = useState(directory)
  const move = useMove()
  const target = normalizePath(path)
  const isInside = names.some((name) => `${target}/`.startsWith(`${joinPath(directory, name)}/`))
  const open = (folder: string) => {
    setPath(folder)
    setOpenFolder(folder)
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('move_title', { count: names.length })}
      width="small"
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button type="submit" form={form} variant="primary" disabled={target === directory || isInside}>
            {t('move')}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          move.mutate({ names, target })
          onClose()
        }}
      >
        <TextField
          label={t('target')}
          hint={t('target_hint')}
          value={path}
          onChange={(event) => setPath(event.target.value)}
          error={isInside ? t('target_inside') : undefined}
          autoComplete="off"
          spellCheck={false}
        />
        <FolderPicker folder={openFolder} hidden={openFolder === directory ? names : []} onOpen={open} />
      </form>
    </Dialog>
  )
}

/** Lists the subfolders of a folder to step into; `hidden` are the entries being moved. */
function FolderPicker({
  folder,
  hidden,
  onOpen,
}: {
  folder: string
  hidden: readonly string[]
  onOpen: (folder: string) => void
}) {
  const { t } = useTranslation('files')
  const { id } = useServer()
  const content = useQuery(filesQuery(id, folder))
  const style =
    'flex min-h-9 w-full items-center gap-2.5 rounded-control px-2.5 text-start text-sm hover:bg-raised'
  return (
    <div
      role="group"
      aria-label={t('folders_of', { folder })}
      className="max-h-64 min-h-32 overflow-y-auto rounded-control border border-line p-1"
    >
      {folder !== '/' && (
        <button type="button" onClick={() => onOpen(parentOf(folder))} className={style}>
          <CornerLeftUp aria-hidden className="size-4 shrink-0 text-muted" /> {t('parent')}
        </button>
      )}
      <Loaded query={content} skeleton={<Skeleton rows={2} className="h-9" />}>
        {({ entries }) => {
          const folders = entries.filter(
            (entry) => kindOf(entry) === 'folder' && !hidden.includes(entry.name),
          )
          if (folders.length === 0) return <p className="px-2.5 py-2 text-sm text-muted">{t('no_folders')}</p>
          return folders.map(({ name }) => (
            <button key={name} type="button" onClick={() => onOpen(joinPath(folder, name))} className={style}>
              <Folder aria-hidden className="size-4 shrink-0 text-brand-text" />
              <span className="min-w-0 wrap-anywhere">{name}</span>
            </button>
          ))
        }}
      </Loaded>
    </div>
  )
}
