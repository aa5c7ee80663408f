import { useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { rowsOf } from '../../api/resources.ts'
import { type Run, runsQuery, type Schedule, type Step } from '../../api/schedules.ts'
import { formatDuration } from '../../app/formats.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Card } from '../../components/card.tsx'
import { classNames } from '../../components/class-names.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Pager } from '../../components/pager.tsx'
import { Loaded } from '../../components/states.tsx'
import { useServer } from '../server-context.tsx'
import { RunState } from './schedule-summary.tsx'
import { TaskText } from './task-text.tsx'

/** Lists the runs of a schedule with the result of each step. */
export function RunHistory({ schedule }: { schedule: Schedule }) {
  const { t } = useTranslation('schedules')
  const { id } = useServer()
  const [page, setPage] = useState(1)
  const runs = useQuery(runsQuery(id, schedule, page))
  return (
    <Card title={t('runs.title')} text={t('runs.text')}>
      <Loaded query={runs}>
        {(shown) =>
          shown.data.length === 0 ? (
            <p className="text-sm text-muted">{t('runs.empty')}</p>
          ) : (
            <>
              <ul aria-label={t('runs.title')} className="divide-y divide-line">
                {rowsOf(shown).map((run) => (
                  <RunRow key={run.id} run={run} />
                ))}
              </ul>
              <Pager pagination={shown.meta.pagination} onPage={setPage} />
            </>
          )
        }
      </Loaded>
    </Card>
  )
}

const durationMs = (from: string, to: string) => new Date(to).getTime() - new Date(from).getTime()

function RunRow({ run }: { run: Run }) {
  const { t } = useTranslation('schedules')
  const by =
    run.trigger === 'cron'
      ? t('runs.by_clock')
      : run.requested_by
        ? t('runs.by_user', { user: run.requested_by })
        : t('runs.by_hand')
  return (
    <li className="py-2 first:pt-0 last:pb-0">
      <details className="group" open={run.state === 'running'}>
        <summary className="flex min-h-9 cursor-pointer list-none items-start gap-3 rounded-control py-1.5 text-sm [&::-webkit-details-marker]:hidden">
          <ChevronRight
            aria-hidden
            className="mt-0.5 size-4 shrink-0 text-muted transition-transform group-open:rotate-90 rtl:not-group-open:rotate-180"
          />
          <span className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
            <RunState state={run.state} />
            <RelativeTime at={run.started_at} />
            <span className="text-muted">{by}</span>
            <span className="text-muted tabular-nums">
              {run.finished_at
                ? t('runs.took', { time: formatDuration(durationMs(run.started_at, run.finished_at)) })
                : t('runs.steps', { count: run.steps.length })}
            </span>
            {run.reason && <span className="w-full wrap-anywhere text-muted">{reasonText(t, run)}</span>}
          </span>
        </summary>
        <ol className="mt-1 ms-2 flex flex-col border-s border-line pb-1">
          {run.steps.map((step) => (
            <StepRow key={step.sequence_id} step={step} />
          ))}
        </ol>
      </details>
    </li>
  )
}

/** Returns the reason in the user's language, if the panel has a code for it; else as the daemon wrote it. */
const reasonText = (
  t: TFunction<'schedules'>,
  { reason, reason_code: code }: Pick<Run, 'reason' | 'reason_code'>,
) => (code === null ? reason : t(`reason.${code}`))

const tones: Record<Step['state'], Tone> = {
  pending: 'plain',
  dispatched: 'info',
  succeeded: 'good',
  failed: 'bad',
  unknown: 'warn',
  skipped: 'plain',
}

/** The point of a step on the line: hollow until it begins, and square where it went wrong. */
const dots: Record<Step['state'], string> = {
  pending: 'border-2 border-line-strong bg-surface',
  dispatched: 'bg-info motion-safe:animate-pulse',
  succeeded: 'bg-good',
  failed: 'rounded-none bg-bad',
  unknown: 'rounded-none bg-warn',
  skipped: 'border-2 border-line-strong bg-surface',
}

function StepRow({ step }: { step: Step }) {
  const { t } = useTranslation('schedules')
  const at = step.finished_at ?? step.dispatched_at ?? step.due_at
  return (
    <li className="relative py-1.5 ps-5 text-sm">
      <span
        aria-hidden
        className={classNames(
          'absolute -start-[0.3125rem] top-3 size-2.5 rounded-full ring-2 ring-surface',
          dots[step.state],
        )}
      />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <TaskText {...step} />
        <Badge tone={tones[step.state]}>{t(`step_state.${step.state}`)}</Badge>
        {at && (
          <span className="text-muted">
            <RelativeTime at={at} />
          </span>
        )}
      </div>
      {step.reason && <p className="ps-6 wrap-anywhere text-muted">{reasonText(t, step)}</p>}
    </li>
  )
}
