import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Clock } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError, type RequestError } from '../../api/error.ts'
import { type CronTimes, previewQuery } from '../../api/schedules.ts'
import { useDebouncedValue } from '../../app/use-debounced-value.ts'
import { FormError } from '../../components/field.tsx'
import { Skeleton } from '../../components/states.tsx'
import { useServer } from '../server-context.tsx'
import { useCronText } from './cron-text.ts'
import { formatInZone, offsetAt, localZone } from './zones.ts'

type Preview = { timezone: string; next_runs: string[] }

/** Fetches the next runs, or why the fields are invalid, shortly after the last change. */
export function usePreview(times: CronTimes): {
  preview: Preview | undefined
  requestError: RequestError | null
} {
  const { id } = useServer()
  const debouncedTimes = useDebouncedValue(times, 300)
  const query = useQuery({ ...previewQuery(id, debouncedTimes), placeholderData: keepPreviousData })
  const requestError = asRequestError(query.error)
  return { preview: requestError ? undefined : query.data, requestError }
}

type RunPreviewProps = { times: CronTimes; preview: Preview | undefined; requestError: RequestError | null }

/** Shows the next runs in the schedule's and the local time zone, with changes of daylight saving time. */
export function RunPreview({ times, preview, requestError }: RunPreviewProps) {
  const { t } = useTranslation('schedules')
  const text = useCronText(times)
  return (
    <section aria-label={t('preview.title')} className="rounded-card bg-raised p-4 text-sm">
      <h3 className="font-medium">{t('preview.title')}</h3>
      {text && preview && <p className="mt-0.5 text-muted">{text}</p>}
      <div aria-live="polite" className="mt-2 min-h-28">
        {preview && <Runs preview={preview} />}
        {!preview && !requestError && <Skeleton rows={5} className="h-4" />}
        {requestError && <PreviewError requestError={requestError} />}
      </div>
    </section>
  )
}

/** Errors of the fields are shown there. */
function PreviewError({ requestError }: { requestError: RequestError }) {
  const { t } = useTranslation('schedules')
  if (requestError.status !== 422) return <FormError error={requestError} />
  return <p className="text-muted">{t('preview.waiting')}</p>
}

function Runs({ preview: { timezone, next_runs } }: { preview: Preview }) {
  const [now] = useState(() => new Date())
  const instants = next_runs.map((instant) => new Date(instant))
  return (
    <ol className="flex flex-col gap-1.5">
      {instants.map((instant, at) => (
        <RunTime
          key={instant.getTime()}
          instant={instant}
          previous={instants[at - 1] ?? now}
          zone={timezone}
        />
      ))}
    </ol>
  )
}

function RunTime({ instant, previous, zone }: { instant: Date; previous: Date; zone: string }) {
  const { t } = useTranslation('schedules')
  const from = offsetAt(previous, zone)
  const to = offsetAt(instant, zone)
  const isOtherZone = offsetAt(instant, localZone) !== to
  return (
    <li>
      <div className="flex flex-wrap items-baseline gap-x-2">
        <time dateTime={instant.toISOString()} className="tabular-nums">
          {formatInZone(instant, zone)}
        </time>
        <span className="text-xs text-muted">{to}</span>
        {isOtherZone && (
          <span className="text-xs text-muted tabular-nums">
            {t('preview.yours', { time: formatInZone(instant, localZone) })}
          </span>
        )}
      </div>
      {from !== to && (
        <p className="flex items-center gap-1.5 text-xs text-warn">
          <Clock aria-hidden className="size-3.5 shrink-0" />
          {t('preview.clock_change', { from, to })}
        </p>
      )}
    </li>
  )
}
