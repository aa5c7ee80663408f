import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Run, runsQuery, type Schedule } from '../../api/schedules.ts'
import { rowsOf } from '../../api/resources.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Instant } from '../../components/instant.tsx'
import { useServer } from '../server-context.tsx'
import { expressionOf, useCronText } from './cron-text.ts'

/** When it runs in words, and in which zone; the expression where there are no words for it. */
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

/** When it runs next, and when it last did with what became of it. */
export function RunTimes({ schedule }: { schedule: Schedule }) {
  const { t } = useTranslation('schedules')
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-1.5 text-sm">
      <Fact name={t('next_run')}>
        <NextRun schedule={schedule} />
      </Fact>
      <Fact name={t('last_run')}>
        <LastRun schedule={schedule} />
      </Fact>
    </dl>
  )
}

function NextRun({ schedule }: { schedule: Schedule }) {
  const { t } = useTranslation('schedules')
  const isDue = useIsPast(schedule.next_run_at)
  if (!schedule.is_active || !schedule.next_run_at) return t('next_run_inactive')
  return isDue ? t('next_run_due') : <Instant at={schedule.next_run_at} />
}

const watchedAhead = 86_400_000

/** Whether that time has come; on a page that is open for longer than a day it is not told. */
function useIsPast(at: string | null): boolean {
  const [past, setPast] = useState<string | null>(null)
  useEffect(() => {
    const wait = at === null ? Infinity : new Date(at).getTime() - Date.now()
    if (wait > watchedAhead) return
    const timer = setTimeout(() => setPast(at), Math.max(0, wait))
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
      {schedule.last_run_at && last?.state !== 'running' && <Instant at={schedule.last_run_at} />}
    </span>
  )
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="min-w-0">
    <dt className="text-muted">{name}</dt>
    <dd className="min-w-0">{children}</dd>
  </div>
)
