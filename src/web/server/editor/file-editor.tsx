import { Save, Search, WrapText } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Badge } from '../../components/badge.tsx'
import { Button, IconButton } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { LeaveGuard } from '../../components/leave-guard.tsx'
import { useFilePermissions } from '../files/files-context.tsx'
import { nameOf } from '../files/paths.ts'
import type { FileStamp } from './open-file.ts'
import { fileText, type TextFile } from './text-file.ts'
import { useCodeEditor } from './use-code-editor.ts'
import { useSave } from './use-save.ts'

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
  const saving = useSave(stamp, onSaved ?? (() => undefined))
  const { container, editor } = useCodeEditor({
    file,
    name: path ? nameOf(path) : '',
    isReadOnly: !rights.create,
    isWrapped: wrap.isWrapped,
    onDirty: setDirty,
    onSave: ({ text, markSaved }) => {
      if (path && rights.create) saving.save({ path, text: fileText(file, text), markSaved })
    },
  })
  return (
    <section aria-label={t('editor')} className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <p role="status" className="mr-auto flex min-h-9 items-center">
          {!rights.create && <Badge>{t('read_only')}</Badge>}
          {isDirty && <Badge tone="warn">{t('unsaved')}</Badge>}
        </p>
        <IconButton icon={Search} label={t('find')} onClick={() => void editor.current?.find()} />
        <IconButton
          icon={WrapText}
          label={t('wrap')}
          aria-pressed={wrap.isWrapped}
          onClick={wrap.toggle}
          className={wrap.isWrapped ? 'bg-brand-soft text-brand-text' : ''}
        />
        {rights.create && (
          <Button
            variant="primary"
            icon={Save}
            busy={saving.isPending}
            disabled={!path || (!isDirty && stamp !== 'missing')}
            onClick={() => editor.current?.save()}
          >
            {t('strings:action.save')}
          </Button>
        )}
      </div>
      <div
        ref={container}
        className="h-[calc(100dvh-19rem)] min-h-80 overflow-hidden rounded-card border border-line focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-brand"
      />
      <p className="text-xs text-muted">{t('editor_keys')}</p>
      <LeaveGuard isDirty={isDirty} title={t('leave_title')} text={t('leave_text')} action={t('leave')} />
      {saving.obstacle && (
        <Dialog
          open
          onOpenChange={saving.dismiss}
          title={t(`obstacle.${saving.obstacle}_title`)}
          text={t(`obstacle.${saving.obstacle}`)}
          width="small"
          actions={
            <>
              <Button onClick={saving.dismiss}>{t('strings:action.cancel')}</Button>
              {saving.obstacle === 'changed' && onReload && (
                <Button onClick={onReload}>{t('obstacle.reload')}</Button>
              )}
              <Button variant="danger" busy={saving.isPending} onClick={saving.overwrite}>
                {t(saving.obstacle === 'gone' ? 'obstacle.write' : 'obstacle.overwrite')}
              </Button>
            </>
          }
        />
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
