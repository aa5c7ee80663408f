import { Link } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import type { Schedule } from '../../api/schedules.ts'
import { IconButton } from '../../components/button.tsx'
import { Switch } from '../../components/switch.tsx'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'
import { useActiveSwitch, useRunNow } from './schedule-changes.ts'
import { CronSentence, RunTimes } from './schedule-summary.tsx'

/** A schedule in the list: name, times and last run. */
export function ScheduleRow({ schedule }: { schedule: Schedule }) {
  const { t } = useTranslation('schedules')
  const { id } = useServer()
  return (
    <li className="grid items-start gap-x-6 gap-y-3 p-4 md:grid-cols-[minmax(0,1fr)_24rem_auto]">
      <div className="min-w-0">
        <h2 className="font-medium wrap-anywhere">
          <Link
            to="/server/$server/schedules/$schedule"
            params={{ server: id, schedule: String(schedule.id) }}
            className="inline-flex min-h-6 items-center rounded-sm hover:underline"
          >
            {schedule.name}
          </Link>
        </h2>
        <CronSentence schedule={schedule} />
        <p className="text-sm text-muted">
          {t('tasks', { count: schedule.relationships.tasks.data.length })}
        </p>
      </div>
      <RunTimes schedule={schedule} />
      <ScheduleControls schedule={schedule} />
    </li>
  )
}

/** Buttons to run and to toggle a schedule; without the permission only its state. */
function ScheduleControls({ schedule }: { schedule: Schedule }) {
  const { t } = useTranslation('schedules')
  const { server, can } = useServer()
  const active = useActiveSwitch(schedule)
  const run = useRunNow(schedule)
  const blocked = isBlocked(server)
  const mayChange = can('schedule.update')
  const hasTasks = schedule.relationships.tasks.data.length > 0
  return (
    <div className="flex items-start gap-3 justify-self-start md:justify-self-end">
      <Switch
        label={t('active_of', { name: schedule.name })}
        hideLabel
        checked={schedule.is_active}
        onChange={(next) => active.mutate(next)}
        disabled={blocked || active.isPending || !mayChange}
        className="py-1.5"
      />
      {mayChange && (
        <IconButton
          icon={Play}
          label={t('run_of', { name: schedule.name })}
          busy={run.isPending || schedule.is_processing}
          disabled={blocked || !hasTasks}
          onClick={() => run.mutate()}
        />
      )}
    </div>
  )
}
