import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Clock } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { asRequestError, type RequestError } from '../../api/error.ts'
import { type CronTimes, previewQuery } from '../../api/schedules.ts'
import { useDebounced } from '../../app/debounced.ts'
import { FormError } from '../../components/field.tsx'
import { Skeleton } from '../../components/states.tsx'
import { useServer } from '../server-context.tsx'
import { useCronText } from './cron-text.ts'
import { formatInZone, offsetAt, ownZone } from './zones.ts'

type Preview = { timezone: string; next_runs: string[] }

/** When the times come next, and what the panel says against them, a moment after they were changed. */
export function usePreview(times: CronTimes): { preview: Preview | undefined; refusal: RequestError | null } {
  const { id } = useServer()
  const settled = useDebounced(times, 300)
  const query = useQuery({ ...previewQuery(id, settled), placeholderData: keepPreviousData })
  const refusal = asRequestError(query.error)
  return { preview: refusal ? undefined : query.data, refusal }
}

type RunPreviewProps = { times: CronTimes; preview: Preview | undefined; refusal: RequestError | null }

/** The next runs, in the schedule's zone and in the reader's, with what a change of the clock does to them. */
export function RunPreview({ times, preview, refusal }: RunPreviewProps) {
  const { t } = useTranslation('schedules')
  const text = useCronText(times)
  return (
    <section aria-label={t('preview.title')} className="rounded-card bg-raised p-4 text-sm">
      <h3 className="font-medium">{t('preview.title')}</h3>
      {text && preview && <p className="mt-0.5 text-muted">{text}</p>}
      <div aria-live="polite" className="mt-2 min-h-28">
        {preview && <Runs preview={preview} />}
        {!preview && !refusal && <Skeleton rows={5} className="h-4" />}
        {refusal && <NoPreview refusal={refusal} />}
      </div>
    </section>
  )
}

/** What is wrong with the fields stands beside them. */
function NoPreview({ refusal }: { refusal: RequestError }) {
  const { t } = useTranslation('schedules')
  if (refusal.status !== 422) return <FormError error={refusal} />
  return <p className="text-muted">{t('preview.waiting')}</p>
}

function Runs({ preview: { timezone, next_runs } }: { preview: Preview }) {
  const [now] = useState(() => new Date())
  const instants = next_runs.map((instant) => new Date(instant))
  return (
    <ol className="flex flex-col gap-1.5">
      {instants.map((instant, at) => (
        <RunTime key={instant.getTime()} instant={instant} before={instants[at - 1] ?? now} zone={timezone} />
      ))}
    </ol>
  )
}

function RunTime({ instant, before, zone }: { instant: Date; before: Date; zone: string }) {
  const { t } = useTranslation('schedules')
  const from = offsetAt(before, zone)
  const to = offsetAt(instant, zone)
  const isElsewhere = offsetAt(instant, ownZone) !== to
  return (
    <li>
      <div className="flex flex-wrap items-baseline gap-x-2">
        <time dateTime={instant.toISOString()} className="tabular-nums">
          {formatInZone(instant, zone)}
        </time>
        <span className="text-xs text-muted">{to}</span>
        {isElsewhere && (
          <span className="text-xs text-muted tabular-nums">
            {t('preview.yours', { time: formatInZone(instant, ownZone) })}
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
