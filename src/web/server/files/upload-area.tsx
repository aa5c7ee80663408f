import { Upload } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { classNames } from '../../components/class-names.ts'
import { chosenFrom, droppedFiles } from './chosen-files.ts'
import { useFiles } from './files-context.tsx'
import type { Chosen } from './upload-queue.ts'
import type { Collision } from './use-uploads.ts'

type Choose = (chosen: Promise<readonly Chosen[]> | readonly Chosen[]) => void

/** Kept while the choice is open: browsers forget what nothing holds. */
let openChoice: HTMLInputElement | null = null

/** Opens the browser's choice of files, or of a folder. */
export function chooseFiles(directory: string, isFolder: boolean, onChosen: Choose): void {
  const field = document.createElement('input')
  openChoice = field
  field.type = 'file'
  field.multiple = true
  field.webkitdirectory = isFolder
  field.addEventListener('change', () => {
    if (openChoice === field) openChoice = null
    onChosen(chosenFrom(field.files ?? [], directory))
  })
  field.click()
}

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false

/** Takes files that are dropped anywhere on the page; the button below the list does the same by keyboard. */
export function UploadArea({ onChosen, children }: { onChosen: Choose; children: ReactNode }) {
  const { t } = useTranslation('files')
  const { directory } = useFiles()
  const isOver = useDrop(directory, onChosen)
  return (
    <>
      {children}
      <button
        type="button"
        onClick={() => chooseFiles(directory, false, onChosen)}
        className={classNames(
          'flex min-h-12 w-full items-center justify-center gap-2.5 rounded-card border border-dashed px-4 py-3 text-sm',
          isOver
            ? 'border-brand bg-brand-soft text-brand-text'
            : 'border-line-strong text-muted hover:bg-raised hover:text-ink',
        )}
      >
        <Upload aria-hidden className="size-4 shrink-0" />
        {t(isOver ? 'upload.drop_here' : 'upload.drop')}
      </button>
    </>
  )
}

/** Whether files are being dragged over the page, which takes them. */
function useDrop(directory: string, onChosen: Choose): boolean {
  const [isOver, setOver] = useState(false)
  const depth = useRef(0)
  const choose = useRef(onChosen)
  useEffect(() => {
    choose.current = onChosen
  })
  useEffect(() => {
    const enter = (event: DragEvent, by: number) => {
      if (!hasFiles(event)) return
      depth.current = Math.max(0, depth.current + by)
      setOver(depth.current > 0)
    }
    const abort = new AbortController()
    const { signal } = abort
    addEventListener('dragenter', (event) => enter(event, 1), { signal })
    addEventListener('dragleave', (event) => enter(event, -1), { signal })
    addEventListener('dragover', (event) => hasFiles(event) && event.preventDefault(), { signal })
    addEventListener(
      'drop',
      (event) => {
        if (!hasFiles(event) || !event.dataTransfer) return
        event.preventDefault()
        depth.current = 0
        setOver(false)
        choose.current(droppedFiles(event.dataTransfer.items, directory))
      },
      { signal },
    )
    return () => abort.abort()
  }, [directory])
  return isOver
}

/** Says which files would be replaced, before they are. */
export function CollisionDialog({
  collision,
  onDecide,
}: {
  collision: Collision
  onDecide: (decision: 'replace' | 'skip' | 'cancel') => void
}) {
  const { t } = useTranslation('files')
  const shown = collision.paths.slice(0, 8)
  const more = collision.paths.length - shown.length
  return (
    <Dialog
      open
      onOpenChange={() => onDecide('cancel')}
      title={t('upload.replace_title')}
      text={t('upload.replace_text', { count: collision.paths.length })}
      width="small"
      actions={
        <>
          <Button onClick={() => onDecide('cancel')}>{t('strings:action.cancel')}</Button>
          {collision.paths.length < collision.chosen.length && (
            <Button onClick={() => onDecide('skip')}>{t('upload.skip')}</Button>
          )}
          <Button look="danger" onClick={() => onDecide('replace')}>
            {t('upload.replace')}
          </Button>
        </>
      }
    >
      <ul className="flex flex-col gap-0.5 rounded-control bg-raised px-3 py-2 text-sm">
        {shown.map((path) => (
          <li key={path} className="wrap-anywhere">
            {path}
          </li>
        ))}
        {more > 0 && <li className="text-muted">{t('more', { count: more })}</li>}
      </ul>
    </Dialog>
  )
}
