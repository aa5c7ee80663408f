import { CircleAlert, CircleCheck, RotateCw, X } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatBytes } from '../../app/formats.ts'
import { IconButton } from '../../components/button.tsx'
import { Progress } from '../../components/meter.tsx'
import { joinPath } from './paths.ts'
import { isPending, type Upload, type UploadQueue } from './upload-queue.ts'

/** Only this many rows are shown; there may be thousands. */
const maxRows = 50
const order = ['failed', 'sending', 'waiting', 'done', 'cancelled'] as const

/** Lists the uploads of all servers: first what failed, then what is being sent. */
export function UploadRows({ queues }: { queues: readonly UploadQueue[] }) {
  const { t } = useTranslation('files')
  const all = queues.flatMap((queue) => queue.uploads.map((upload) => ({ queue, upload })))
  const shown = order.flatMap((state) => all.filter(({ upload }) => upload.state === state))
  if (shown.length === 0) return null
  return (
    <ul className="max-h-56 divide-y divide-line overflow-y-auto border-t border-line">
      {shown.slice(0, maxRows).map(({ queue, upload }) => (
        <UploadRow
          key={`${queue.serverName} ${upload.id}`}
          queue={queue}
          upload={upload}
          server={queues.length > 1 ? queue.serverName : null}
        />
      ))}
      {shown.length > maxRows && (
        <li className="px-4 py-2 text-sm text-muted">{t('more', { count: shown.length - maxRows })}</li>
      )}
    </ul>
  )
}

type RowProps = {
  queue: UploadQueue
  upload: Upload
  /** The name of its server, where there are several. */
  server: string | null
}

function UploadRow({ queue, upload, server }: RowProps) {
  const { t } = useTranslation('files')
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
            {server && <span className="text-muted">{server}: </span>}
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
        {reason && (
          <p className={`text-xs wrap-anywhere ${state === 'cancelled' ? 'text-warn' : 'text-bad'}`}>
            {reason}
          </p>
        )}
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
