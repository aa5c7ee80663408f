import { ListChecks, ListIndentIncrease, Save, Search, WrapText } from 'lucide-react'
import type { RefObject } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, IconButton } from '../../components/button.tsx'
import { useFilePermissions } from '../files/files-context.tsx'
import type { CodeEditor } from './code-editor.ts'
import type { useCheck } from './use-check.ts'

type ToolbarProps = {
  editor: RefObject<CodeEditor | null>
  check: ReturnType<typeof useCheck>
  wrap: { isWrapped: boolean; toggle: () => void }
  isDirty: boolean
  canSave: boolean
  isSaving: boolean
}

/** The state of the text and what can be done with it. */
export function EditorToolbar({ editor, check, wrap, isDirty, canSave, isSaving }: ToolbarProps) {
  const { t } = useTranslation('files')
  const rights = useFilePermissions()
  return (
    <div className="flex flex-wrap items-center gap-2">
      <p role="status" className="me-auto flex min-h-9 items-center">
        {!rights.create && <Badge>{t('read_only')}</Badge>}
        {isDirty && <Badge tone="warn">{t('unsaved')}</Badge>}
      </p>
      {check.canCheck && (
        <IconButton icon={ListChecks} label={t('check.check')} onClick={() => void check.run('check')} />
      )}
      {check.canCheck && rights.create && (
        <IconButton
          icon={ListIndentIncrease}
          label={t('check.format')}
          onClick={() => void check.run('format')}
        />
      )}
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
          busy={isSaving}
          disabled={!canSave}
          onClick={() => editor.current?.save()}
        >
          {t('strings:action.save')}
        </Button>
      )}
    </div>
  )
}
