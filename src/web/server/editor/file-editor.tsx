import { lazy, Suspense, useRef, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { LeaveGuard } from '../../components/leave-guard.tsx'
import { useFilePermissions } from '../files/files-context.tsx'
import { nameOf } from '../files/paths.ts'
import type { CodeEditor } from './code-editor.ts'
import { EditorToolbar } from './editor-toolbar.tsx'
import type { FileStamp } from './open-file.ts'
import { fileText, type TextFile } from './text-file.ts'
import { useCheck } from './use-check.ts'
import { useCodeEditor } from './use-code-editor.ts'
import { useSave } from './use-save.ts'

const CheckNote = lazy(async () => ({ default: (await import('./check-note.tsx')).CheckNote }))
const SaveObstacle = lazy(async () => ({ default: (await import('./save-obstacle.tsx')).SaveObstacle }))

type EditorProps = {
  file: TextFile
  /** The file when it was opened; `missing` for a new file. */
  stamp: FileStamp
  /** Where it is saved; null while it has no name. */
  path: string | null
  onSaved?: (path: string) => void
  /** Opens the file again with its current content. */
  onReload?: () => void
}

/** The editor of a text file. Warns before unsaved changes are lost or the changes of another user are overwritten. */
export function FileEditor({ file, stamp, path, onSaved, onReload }: EditorProps) {
  const { t } = useTranslation('files')
  const rights = useFilePermissions()
  const [isDirty, setDirty] = useState(false)
  const wrap = useWrap()
  const editor = useRef<CodeEditor | null>(null)
  const name = path ? nameOf(path) : ''
  const check = useCheck(editor, name)
  const saving = useSave(stamp, (saved) => {
    void check.run('save')
    onSaved?.(saved)
  })
  const container = useCodeEditor({
    onEditor: (next) => {
      editor.current = next
    },
    file,
    name,
    isReadOnly: !rights.create,
    isWrapped: wrap.isWrapped,
    onDirty: setDirty,
    onChange: check.clear,
    onSave: ({ text, markSaved }) => {
      if (path && rights.create) saving.save({ path, text: fileText(file, text), markSaved })
    },
  })
  return (
    <section aria-label={t('editor')} className="flex min-w-0 flex-col gap-3">
      <EditorToolbar
        editor={editor}
        check={check}
        wrap={wrap}
        isDirty={isDirty}
        canSave={path !== null && (isDirty || stamp === 'missing')}
        isSaving={saving.isPending}
      />
      <div role="status" className="empty:hidden">
        {check.result && (
          <Suspense>
            <CheckNote result={check.result} onGoTo={(position) => editor.current?.goTo(position)} />
          </Suspense>
        )}
      </div>
      <div
        ref={container}
        className="h-[calc(100dvh-19rem)] min-h-80 overflow-hidden rounded-card border border-line focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-brand"
      />
      <p className="text-xs text-muted">{t('editor_keys')}</p>
      <LeaveGuard isDirty={isDirty} title={t('leave_title')} text={t('leave_text')} action={t('leave')} />
      {saving.obstacle && (
        <Suspense>
          <SaveObstacle saving={saving} onReload={onReload} />
        </Suspense>
      )}
    </section>
  )
}

const wrapKey = 'roost.editor.wrap'

/** Whether long lines are wrapped, stored on this device. */
function useWrap(): { isWrapped: boolean; toggle: () => void } {
  const [isWrapped, setWrapped] = useState(() => localStorage.getItem(wrapKey) === 'on')
  const toggle = () => {
    localStorage.setItem(wrapKey, isWrapped ? 'off' : 'on')
    setWrapped(!isWrapped)
  }
  return { isWrapped, toggle }
}
