import { FileArchive, Trash2, X } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { formatBytes, formatRelative } from '../../app/formats.ts'
import { AdminAction } from '../admin-action.tsx'
import type { MoveIn } from '../resources.ts'
import { busyStages } from './move-stages.ts'

/** The dump that waits, until when, and a way to delete it. */
export function ChosenDump({ move }: { move: MoveIn }) {
  const { t } = useTranslation('moving')
  const { file, started_by: user, expires_at: expiresAt } = move
  if (!file) return null
  return (
    <section
      aria-label={t('step.dump')}
      className="flex flex-wrap items-center gap-3 rounded-card border border-line bg-surface px-4 py-3 sm:px-5"
    >
      <FileArchive aria-hidden className="size-5 shrink-0 text-muted" strokeWidth={1.5} />
      <div className="min-w-0 flex-1 basis-48">
        <p className="text-sm font-medium wrap-anywhere">
          {t('dump.file', { name: file.name, size: formatBytes(file.size) })}
        </p>
        {expiresAt && (
          <p className="text-sm text-muted">{t('dump.by', { user, when: formatRelative(expiresAt) })}</p>
        )}
      </div>
      <DiscardMove move={move} />
    </section>
  )
}

/** Deletes the dump, or cancels what the panel does with it. */
export function DiscardMove({ move: { stage, is_cancelling: isCancelling } }: { move: MoveIn }) {
  const { t } = useTranslation('moving')
  const isWriting = stage === 'moving'
  const isBusy = stage !== null && busyStages.includes(stage)
  const label = isWriting ? t('move.cancel') : isBusy ? t('strings:action.cancel') : t('dump.delete')
  return (
    <AdminAction
      icon={isBusy ? X : Trash2}
      label={isCancelling ? t('move.cancelling') : label}
      disabled={isCancelling}
      run={() => adminSend('DELETE', '/move-in')}
      {...(isBusy ? {} : { done: t('dump.deleted') })}
      confirm={{ title: label, text: t(isWriting ? 'move.cancel_text' : 'dump.delete_text') }}
    />
  )
}
