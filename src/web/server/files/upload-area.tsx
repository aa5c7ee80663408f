import { Upload } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { classNames } from '../../components/class-names.ts'
import { filesFromInput, droppedFiles } from './chosen-files.ts'
import { useFiles } from './files-context.tsx'
import type { ChosenFile } from './upload-queue.ts'

/** Takes files that the user has chosen or dropped. */
export type OnChosen = (chosen: Promise<readonly ChosenFile[]> | readonly ChosenFile[]) => void

/** Referenced while the picker is open, since some browsers discard an input that nothing refers to. */
let openPicker: HTMLInputElement | null = null

/** Opens the browser's file or folder picker. */
export function chooseFiles(directory: string, isFolder: boolean, onChosen: OnChosen): void {
  const field = document.createElement('input')
  openPicker = field
  field.type = 'file'
  field.multiple = true
  field.webkitdirectory = isFolder
  field.addEventListener('change', () => {
    if (openPicker === field) openPicker = null
    onChosen(filesFromInput(field.files ?? [], directory))
  })
  field.click()
}

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false

/** Accepts files dropped anywhere on the page; its button opens the file picker instead. */
export function UploadArea({ onChosen, children }: { onChosen: OnChosen; children: ReactNode }) {
  const { t } = useTranslation('files')
  const { directory, entries } = useFiles()
  const isDragging = useDrop(directory, onChosen)
  const isEmpty = entries.length === 0
  return (
    <>
      {children}
      <button
        type="button"
        onClick={() => chooseFiles(directory, false, onChosen)}
        className={classNames(
          'flex w-full items-center justify-center rounded-card border border-dashed px-4 text-sm',
          isEmpty ? 'flex-col gap-2 py-12' : 'min-h-12 gap-2.5 py-3',
          isDragging
            ? 'border-brand bg-brand-soft text-brand-text'
            : 'border-line-strong text-muted hover:bg-raised hover:text-ink',
        )}
      >
        <Upload
          aria-hidden
          className={isEmpty ? 'size-8' : 'size-4 shrink-0'}
          strokeWidth={isEmpty ? 1.5 : 2}
        />
        {isEmpty && <span className="text-base font-medium text-ink">{t('empty')}</span>}
        <span>{t(isDragging ? 'upload.drop_here' : 'upload.drop')}</span>
      </button>
    </>
  )
}

/** Whether files are being dragged over the page. */
function useDrop(directory: string, onChosen: OnChosen): boolean {
  const [isDragging, setDragging] = useState(false)
  const depth = useRef(0)
  const choose = useRef(onChosen)
  useEffect(() => {
    choose.current = onChosen
  })
  useEffect(() => {
    const changeDepth = (event: DragEvent, by: number) => {
      if (!hasFiles(event)) return
      depth.current = Math.max(0, depth.current + by)
      setDragging(depth.current > 0)
    }
    const abort = new AbortController()
    const { signal } = abort
    addEventListener('dragenter', (event) => changeDepth(event, 1), { signal })
    addEventListener('dragleave', (event) => changeDepth(event, -1), { signal })
    addEventListener('dragover', (event) => hasFiles(event) && event.preventDefault(), { signal })
    addEventListener(
      'drop',
      (event) => {
        if (!hasFiles(event) || !event.dataTransfer) return
        event.preventDefault()
        depth.current = 0
        setDragging(false)
        choose.current(droppedFiles(event.dataTransfer.items, directory))
      },
      { signal },
    )
    return () => abort.abort()
  }, [directory])
  return isDragging
}
