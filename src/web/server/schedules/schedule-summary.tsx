import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { type Run, runsQuery, type Schedule } from '../../api/schedules.ts'
import { rowsOf } from '../../api/resources.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useServer } from '../server-context.tsx'
import { expressionOf, useCronText } from './cron-text.ts'

/** Describes when a schedule runs, with its time zone; the expression itself when it cannot be described. */
export function CronSentence({ schedule }: { schedule: Schedule }) {
  const text = useCronText(schedule.cron)
  const expression = expressionOf(schedule.cron)
  return (
    <span className="block text-sm wrap-anywhere text-muted">
      <span title={expression} className={text ? undefined : 'font-mono'}>
        {text ?? expression}
      </span>
      {' · '}
      {schedule.timezone.replaceAll('_', ' ')}
    </span>
  )
}

const tones: Record<Run['state'], Tone> = {
  running: 'info',
  succeeded: 'good',
  failed: 'bad',
  skipped: 'warn',
}

export function RunState({ state }: { state: Run['state'] }) {
  const { t } = useTranslation('schedules')
  return <Badge tone={tones[state]}>{t(`run_state.${state}`)}</Badge>
}

/** Shows the next and the last run. */
export function RunTimes({ schedule }: { schedule: Schedule }) {
  const { t } = useTranslation('schedules')
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-1.5 text-sm">
      <Detail name={t('next_run')}>
        <NextRun schedule={schedule} />
      </Detail>
      <Detail name={t('last_run')}>
        <LastRun schedule={schedule} />
      </Detail>
    </dl>
  )
}

function NextRun({ schedule }: { schedule: Schedule }) {
  const { t } = useTranslation('schedules')
  const isDue = useIsPast(schedule.next_run_at)
  if (!schedule.is_active || !schedule.next_run_at) return t('next_run_inactive')
  return isDue ? t('next_run_due') : <RelativeTime at={schedule.next_run_at} />
}

const maxTimerMs = 86_400_000

/** Whether a time has passed. Times more than a day ahead are not watched. */
function useIsPast(at: string | null): boolean {
  const [past, setPast] = useState<string | null>(null)
  useEffect(() => {
    const delayMs = at === null ? Infinity : new Date(at).getTime() - Date.now()
    if (delayMs > maxTimerMs) return
    const timer = setTimeout(() => setPast(at), Math.max(0, delayMs))
    return () => clearTimeout(timer)
  }, [at])
  return at !== null && past === at
}

function LastRun({ schedule }: { schedule: Schedule }) {
  const { t } = useTranslation('schedules')
  const { id } = useServer()
  const hasRun = schedule.is_processing || schedule.last_run_at !== null
  const { data } = useQuery({ ...runsQuery(id, schedule, 1, 1), enabled: hasRun })
  const last = data && rowsOf(data)[0]
  if (!hasRun) return t('strings:word.never')
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1" title={last?.reason ?? undefined}>
      {last && <RunState state={last.state} />}
      {schedule.last_run_at && last?.state !== 'running' && <RelativeTime at={schedule.last_run_at} />}
    </span>
  )
}

const Detail = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="min-w-0">
    <dt className="text-muted">{name}</dt>
    <dd className="min-w-0">{children}</dd>
  </div>
)
