import { useQuery } from '@tanstack/react-query'
import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { CalendarClock, Plus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Schedule, schedulesQuery } from '../../../../../api/schedules.ts'
import { usePageTitle } from '../../../../../app/page-title.ts'
import { loadTexts } from '../../../../../app/texts.ts'
import { Button } from '../../../../../components/button.tsx'
import { PageHeader, RowList } from '../../../../../components/card.tsx'
import { EmptyState, Loaded } from '../../../../../components/states.tsx'
import { useRefetchWhenUnblocked } from '../../../../../server/use-refetch-when-unblocked.ts'
import { ScheduleForm } from '../../../../../server/schedules/schedule-form.tsx'
import { ScheduleRow } from '../../../../../server/schedules/schedule-row.tsx'
import { useServer } from '../../../../../server/server-context.tsx'
import { isBlocked } from '../../../../../server/server-state.ts'

export const Route = createFileRoute('/_app/server/$server/schedules/')({
  loader: () => loadTexts('schedules'),
  component: SchedulesPage,
})

function SchedulesPage() {
  const { t } = useTranslation('schedules')
  const { id, server, can } = useServer()
  usePageTitle(t('title'), server.name)
  useRefetchWhenUnblocked()
  const navigate = useNavigate()
  const [creating, setCreating] = useState(false)
  const schedules = useQuery(schedulesQuery(id))
  const create = can('schedule.create') && (
    <Button variant="primary" icon={Plus} disabled={isBlocked(server)} onClick={() => setCreating(true)}>
      {t('create')}
    </Button>
  )
  const openNew = (schedule: Schedule) =>
    void navigate({
      to: '/server/$server/schedules/$schedule',
      params: { server: id, schedule: String(schedule.id) },
    })
  return (
    <div>
      <PageHeader title={t('title')} text={t('text')} actions={create} />
      <Loaded query={schedules}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState
              icon={CalendarClock}
              title={t('empty')}
              {...(can('schedule.create') ? { text: t('empty_text') } : {})}
            />
          ) : (
            <RowList label={t('title')}>
              {rows.map((schedule) => (
                <ScheduleRow key={schedule.id} schedule={schedule} />
              ))}
            </RowList>
          )
        }
      </Loaded>
      {creating && <ScheduleForm onClose={() => setCreating(false)} onSaved={openNew} />}
    </div>
  )
}
