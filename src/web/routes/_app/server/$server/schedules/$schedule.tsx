import { useQuery } from '@tanstack/react-query'
import { createFileRoute, Link } from '@tanstack/react-router'
import { ArrowLeft, Pencil, Play, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../../../../app/use-translation.ts'
import { type Schedule, scheduleQuery } from '../../../../../api/schedules.ts'
import { usePageTitle } from '../../../../../app/page-title.ts'
import { loadTexts } from '../../../../../app/texts.ts'
import { Button, IconButton } from '../../../../../components/button.tsx'
import { Card, PageHeader } from '../../../../../components/card.tsx'
import { Loaded } from '../../../../../components/states.tsx'
import { Switch } from '../../../../../components/switch.tsx'
import { useRefetchWhenUnblocked } from '../../../../../server/use-refetch-when-unblocked.ts'
import { DeleteSchedule } from '../../../../../server/schedules/delete-dialogs.tsx'
import { RunHistory } from '../../../../../server/schedules/run-history.tsx'
import { useActiveSwitch, useRunNow } from '../../../../../server/schedules/schedule-changes.ts'
import { CronSentence, RunTimes } from '../../../../../server/schedules/schedule-summary.tsx'
import { ScheduleForm } from '../../../../../server/schedules/schedule-form.tsx'
import { TaskList } from '../../../../../server/schedules/task-list.tsx'
import { useServer } from '../../../../../server/server-context.tsx'
import { isBlocked } from '../../../../../server/server-state.ts'

export const Route = createFileRoute('/_app/server/$server/schedules/$schedule')({
  loader: () => loadTexts('schedules'),
  component: SchedulePage,
})

function SchedulePage() {
  const { t } = useTranslation('schedules')
  const { id, server } = useServer()
  const params = Route.useParams()
  const schedule = useQuery(scheduleQuery(id, Number(params.schedule)))
  const name = schedule.data?.name
  usePageTitle(name ?? t('title'), server.name)
  useRefetchWhenUnblocked()
  return (
    <div>
      <Link
        to="/server/$server/schedules"
        params={{ server: id }}
        className="mb-2 inline-flex min-h-9 items-center gap-2 rounded-control text-sm text-muted hover:text-ink"
      >
        <ArrowLeft aria-hidden className="size-4 rtl:rotate-180" />
        {t('back')}
      </Link>
      {schedule.data === undefined && <h1 className="sr-only">{t('title')}</h1>}
      <Loaded query={schedule}>{(shown) => <ScheduleDetails schedule={shown} />}</Loaded>
    </div>
  )
}

function ScheduleDetails({ schedule }: { schedule: Schedule }) {
  const { t } = useTranslation('schedules')
  const { server, can } = useServer()
  const active = useActiveSwitch(schedule)
  const mayChange = can('schedule.update')
  return (
    <>
      <PageHeader
        title={schedule.name}
        text={<CronSentence schedule={schedule} />}
        actions={<ScheduleActions schedule={schedule} />}
      />
      <div className="flex flex-col gap-4">
        <Card>
          <div className="grid gap-4 sm:grid-cols-2">
            <RunTimes schedule={schedule} />
            <div className="flex flex-col gap-1 text-sm sm:items-end">
              <Switch
                label={t('active')}
                checked={schedule.is_active}
                onChange={(next) => active.mutate(next)}
                disabled={isBlocked(server) || active.isPending || !mayChange}
              />
              {schedule.only_when_online && <p className="text-muted">{t('only_online')}</p>}
            </div>
          </div>
        </Card>
        <TaskList schedule={schedule} />
        <RunHistory schedule={schedule} />
      </div>
    </>
  )
}

function ScheduleActions({ schedule }: { schedule: Schedule }) {
  const { t } = useTranslation('schedules')
  const { server, can } = useServer()
  const [openDialog, setOpenDialog] = useState<'edit' | 'delete' | null>(null)
  const run = useRunNow(schedule)
  const blocked = isBlocked(server)
  const close = () => setOpenDialog(null)
  return (
    <>
      {can('schedule.update') && (
        <>
          <Button
            variant="primary"
            icon={Play}
            busy={run.isPending || schedule.is_processing}
            disabled={blocked || schedule.relationships.tasks.data.length === 0}
            onClick={() => run.mutate()}
          >
            {schedule.is_processing ? t('running') : t('run')}
          </Button>
          <Button icon={Pencil} disabled={blocked} onClick={() => setOpenDialog('edit')}>
            {t('strings:action.edit')}
          </Button>
        </>
      )}
      {can('schedule.delete') && (
        <IconButton
          icon={Trash2}
          label={t('strings:action.delete')}
          disabled={blocked}
          onClick={() => setOpenDialog('delete')}
        />
      )}
      {openDialog === 'edit' && <ScheduleForm schedule={schedule} onClose={close} />}
      {openDialog === 'delete' && <DeleteSchedule schedule={schedule} onClose={close} />}
    </>
  )
}
