import { CircleAlert, CircleCheck, RotateCw, X } from 'lucide-react'
import { useEffect, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { formatBytes } from '../../app/formats.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { Progress } from '../../components/meter.tsx'
import { useServer } from '../server-context.tsx'
import { joinPath } from './paths.ts'
import { isPending, type Upload, uploadsTo } from './upload-queue.ts'

/** Only this many rows are shown; there may be thousands. */
const maxRows = 50
const order = ['failed', 'sending', 'waiting', 'done', 'cancelled'] as const

const sumOf = (uploads: readonly Upload[], valueOf: (upload: Upload) => number) =>
  uploads.reduce((sum, upload) => sum + valueOf(upload), 0)

/** Shows the progress of the uploads with their actions; nothing without uploads. */
export function UploadPanel() {
  const { t } = useTranslation('files')
  const { id } = useServer()
  const queue = uploadsTo(id)
  const uploads = useSyncExternalStore(queue.subscribe, queue.getSnapshot)
  const open = uploads.filter(isPending)
  useLeaveWarning(open.length > 0)
  if (uploads.length === 0) return null
  const active = uploads.filter(({ state }) => state !== 'cancelled')
  const bytes = sumOf(active, ({ file }) => file.size)
  const failed = uploads.filter(({ state }) => state === 'failed').length
  const shown = order.flatMap((state) => uploads.filter((upload) => upload.state === state))
  const title =
    open.length > 0
      ? t('upload.open', { count: open.length })
      : failed > 0
        ? t('upload.some_failed', { count: failed })
        : t('upload.over')
  return (
    <section aria-label={t('upload.label')} className="rounded-card border border-line bg-surface">
      <header className="flex flex-wrap items-center gap-3 px-4 py-2">
        <p aria-live="polite" className="mr-auto text-sm font-medium tabular-nums">
          {title}
        </p>
        {open.length > 0 ? (
          <Button variant="quiet" onClick={() => queue.cancel(...open.map((upload) => upload.id))}>
            {t('upload.cancel_all')}
          </Button>
        ) : (
          <Button variant="quiet" onClick={() => queue.clear()}>
            {t('upload.clear')}
          </Button>
        )}
      </header>
      <div className="px-4 pb-3">
        <Progress
          label={t('upload.progress')}
          ratio={bytes > 0 ? sumOf(active, ({ sent }) => sent) / bytes : null}
        />
      </div>
      <ul className="max-h-64 divide-y divide-line overflow-y-auto border-t border-line">
        {shown.slice(0, maxRows).map((upload) => (
          <UploadRow key={upload.id} upload={upload} />
        ))}
        {shown.length > maxRows && (
          <li className="px-4 py-2 text-sm text-muted">{t('more', { count: shown.length - maxRows })}</li>
        )}
      </ul>
    </section>
  )
}

function UploadRow({ upload }: { upload: Upload }) {
  const { t } = useTranslation('files')
  const { id } = useServer()
  const queue = uploadsTo(id)
  const { file, state, failure } = upload
  const path = joinPath(upload.directory, file.name)
  const reason = failure && ('text' in failure ? failure.text : t(`upload.${failure.name}`))
  return (
    <li className="flex min-h-12 items-center gap-3 px-4 py-1.5">
      {state === 'done' && <CircleCheck aria-hidden className="size-4 shrink-0 text-good" />}
      {state === 'failed' && <CircleAlert aria-hidden className="size-4 shrink-0 text-bad" />}
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <div className="flex items-baseline justify-between gap-3 text-sm">
          <span className="truncate" title={path}>
            {path}
          </span>
          <span className="shrink-0 text-xs text-muted tabular-nums">
            {state === 'sending'
              ? t('upload.sent', { sent: formatBytes(upload.sent), size: formatBytes(file.size) })
              : t(`upload.state.${state}`)}
          </span>
        </div>
        {state === 'sending' && (
          <Progress
            label={t('upload.progress_of', { name: file.name })}
            ratio={file.size > 0 ? upload.sent / file.size : 1}
          />
        )}
        {reason && <p className="text-xs wrap-anywhere text-bad">{reason}</p>}
      </div>
      {isPending(upload) && (
        <IconButton
          icon={X}
          label={t('upload.cancel', { name: file.name })}
          onClick={() => queue.cancel(upload.id)}
        />
      )}
      {(state === 'failed' || state === 'cancelled') && (
        <IconButton
          icon={RotateCw}
          label={t('upload.retry', { name: file.name })}
          onClick={() => queue.retry(upload.id)}
        />
      )}
    </li>
  )
}

/** Warns before the user leaves the panel, which would abort the uploads. */
function useLeaveWarning(isBusy: boolean): void {
  useEffect(() => {
    if (!isBusy) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isBusy])
}
