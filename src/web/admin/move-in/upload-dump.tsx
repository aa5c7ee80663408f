import { useMutation } from '@tanstack/react-query'
import { Upload, X } from 'lucide-react'
import { type DragEvent, useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { refetchAdmin } from '../../api/admin.ts'
import { formatBytes, formatDuration } from '../../app/formats.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { classNames } from '../../components/class-names.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { FormError } from '../../components/field.tsx'
import { LeaveGuard } from '../../components/leave-guard.tsx'
import { Progress } from '../../components/meter.tsx'
import { toast } from '../../components/toast.tsx'
import { createPace } from '../../server/files/transfer-pace.ts'
import type { MoveIn } from '../resources.ts'
import { DiscardMove } from './chosen-dump.tsx'
import { sendDump } from './send-dump.ts'

const dumpCommand =
  'mysqldump --single-transaction --default-character-set=utf8mb4 panel | gzip > panel.sql.gz'

/** Takes the dump, and shows how far its upload is: that of this page, or of another one. */
export function UploadDump({ move }: { move: MoveIn }) {
  const { t } = useTranslation('moving')
  const upload = useUpload()
  const limit = Math.min(move.max_bytes, move.free_bytes)
  if (upload.file) return <OwnUpload upload={upload} />
  if (move.stage === 'uploading') return <OtherUpload move={move} />
  return (
    <Card title={t('dump.title')} text={t('dump.text')}>
      <div className="flex flex-col gap-4">
        <div className="flex items-start gap-2 rounded-control bg-raised py-1 pr-1 pl-3">
          <code className="min-w-0 flex-1 py-2 text-xs wrap-anywhere">{dumpCommand}</code>
          <CopyButton text={dumpCommand} />
        </div>
        <DropArea limit={limit} onChosen={upload.start} />
        <FormError error={upload.error} />
        <p className="text-sm text-muted">
          {t('dump.limit', { max: formatBytes(move.max_bytes), free: formatBytes(move.free_bytes) })}{' '}
          {t('dump.kept')}
        </p>
      </div>
    </Card>
  )
}

type Pace = { sent: number; bytesPerSecond: number | null }

function useUpload() {
  const { t } = useTranslation('moving')
  const [file, setFile] = useState<File | null>(null)
  const [pace, setPace] = useState<Pace>({ sent: 0, bytesPerSecond: null })
  const controller = useRef<AbortController>(null)
  const sending = useMutation({
    mutationFn: async (chosen: File) => {
      const measured = createPace()
      let before = 0
      const { signal } = (controller.current = new AbortController())
      await sendDump(chosen, signal, (sent) => {
        const now = performance.now()
        measured.add(sent - before, now)
        before = sent
        setPace({ sent, bytesPerSecond: measured.bytesPerSecond(now) })
      })
      await refetchAdmin()
    },
    onError: () => {
      if (controller.current?.signal.aborted) toast(t('upload.cancelled'))
      void refetchAdmin()
    },
    onSettled: () => setFile(null),
  })
  const rest = useRef(0)
  useEffect(() => {
    rest.current = file ? file.size - pace.sent : 0
  })
  useEffect(
    () => () => {
      // What has been sent whole is only waiting for its answer.
      if (rest.current > 0) controller.current?.abort()
    },
    [],
  )
  return {
    file,
    ...pace,
    error: sending.error,
    start: (chosen: File) => {
      setFile(chosen)
      setPace({ sent: 0, bytesPerSecond: null })
      sending.mutate(chosen)
    },
    cancel: () => controller.current?.abort(),
  }
}

function OwnUpload({
  upload: { file, sent, bytesPerSecond, cancel },
}: {
  upload: ReturnType<typeof useUpload>
}) {
  const { t } = useTranslation('moving')
  const size = file?.size ?? 0
  return (
    <Card
      title={t('upload.title')}
      text={<span className="wrap-anywhere">{file?.name}</span>}
      actions={
        <Button icon={X} onClick={cancel}>
          {t('strings:action.cancel')}
        </Button>
      }
    >
      <LeaveGuard isDirty title={t('upload.title')} text={t('upload.stay')} action={t('upload.leave')} />
      <div className="flex flex-col gap-2">
        <Progress label={t('upload.title')} ratio={size === 0 ? null : sent / size} />
        <p className="text-sm tabular-nums">
          {t('upload.progress', { sent: formatBytes(sent), total: formatBytes(size) })}
          {bytesPerSecond !== null &&
            ` · ${t('pace', {
              rate: formatBytes(bytesPerSecond),
              left: formatDuration(((size - sent) / bytesPerSecond) * 1000),
            })}`}
        </p>
        <p className="text-sm text-muted">{t('upload.stay')}</p>
      </div>
    </Card>
  )
}

/** An upload of another page, of which the panel tells only what has come. */
function OtherUpload({ move }: { move: MoveIn }) {
  const { t } = useTranslation('moving')
  return (
    <Card
      title={t('upload.title')}
      text={t('upload.other', {
        user: move.started_by,
        name: move.file?.name,
        sent: formatBytes(move.file?.size ?? 0),
      })}
      actions={<DiscardMove move={move} />}
    >
      <Progress label={t('upload.title')} ratio={null} />
    </Card>
  )
}

/** Takes one file, dropped or chosen; says where it is too large. */
function DropArea({ limit, onChosen }: { limit: number; onChosen: (file: File) => void }) {
  const { t } = useTranslation('moving')
  const input = useRef<HTMLInputElement>(null)
  const [isDragging, setDragging] = useState(false)
  const [tooLarge, setTooLarge] = useState<number | null>(null)
  const choose = (files: FileList | null) => {
    const file = files?.[0]
    if (!file) return
    setTooLarge(file.size > limit ? file.size : null)
    if (file.size <= limit) onChosen(file)
  }
  const drag = (event: DragEvent, isOver: boolean) => {
    event.preventDefault()
    setDragging(isOver)
  }
  return (
    <div className="flex flex-col gap-2">
      <input
        ref={input}
        type="file"
        className="sr-only"
        tabIndex={-1}
        aria-label={t('dump.choose')}
        accept=".sql,.gz,.dump"
        onChange={({ target }) => {
          choose(target.files)
          target.value = ''
        }}
      />
      <button
        type="button"
        onClick={() => input.current?.click()}
        onDragOver={(event) => drag(event, true)}
        onDragLeave={(event) => drag(event, false)}
        onDrop={(event) => {
          drag(event, false)
          choose(event.dataTransfer.files)
        }}
        className={classNames(
          'flex w-full flex-col items-center justify-center gap-2 rounded-card border border-dashed px-4 py-8 text-sm',
          isDragging
            ? 'border-brand bg-brand-soft text-brand-text'
            : 'border-line-strong text-ink hover:bg-raised',
        )}
      >
        <Upload aria-hidden className="size-7 text-muted" strokeWidth={1.5} />
        <span className="font-medium">{t('dump.drop')}</span>
      </button>
      {tooLarge !== null && (
        <p role="alert" className="text-sm text-bad">
          {t('dump.too_large', { size: formatBytes(tooLarge), max: formatBytes(limit) })}
        </p>
      )}
    </div>
  )
}
