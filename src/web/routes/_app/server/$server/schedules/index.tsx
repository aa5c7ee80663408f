import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { CalendarClock, Plus } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from '../../../../../app/use-translation.ts'
import { type Schedule, schedulesQuery } from '../../../../../api/schedules.ts'
import { usePageTitle } from '../../../../../app/page-title.ts'
import { loadTexts } from '../../../../../app/texts.ts'
import { Button } from '../../../../../components/button.tsx'
import { PageHeader, RowList } from '../../../../../components/card.tsx'
import { EmptyState, Loaded } from '../../../../../components/states.tsx'
import { useRefetchWhenUnblocked } from '../../../../../server/use-refetch-when-unblocked.ts'
import { ScheduleForm } from '../../../../../server/schedules/schedule-form.tsx'
import { ScheduleRow } from '../../../../../server/schedules/schedule-row.tsx'
import {
  readTemplateName,
  type TemplateName,
  useAllowedTemplates,
} from '../../../../../server/schedules/templates.ts'
import { useServer } from '../../../../../server/server-context.tsx'
import { isBlocked } from '../../../../../server/server-state.ts'

/** What the address can say: the template with which a new schedule begins at once. */
type Search = { template?: TemplateName }

export const Route = createFileRoute('/_app/server/$server/schedules/')({
  validateSearch: ({ template }: Record<string, unknown>): Search => {
    const name = readTemplateName(template)
    return name ? { template: name } : {}
  },
  loader: () => loadTexts('schedules'),
  component: SchedulesPage,
})

function SchedulesPage() {
  const { t } = useTranslation('schedules')
  const { id, server, can } = useServer()
  usePageTitle(t('title'), server.name)
  useRefetchWhenUnblocked()
  const navigate = Route.useNavigate()
  const { template } = Route.useSearch()
  const [creating, setCreating] = useState<Search | null>(
    template && can('schedule.create') ? { template } : null,
  )
  // The address then is that of the list again: the form opens once.
  useEffect(() => {
    if (template) void navigate({ search: {}, replace: true })
  }, [template, navigate])
  const schedules = useQuery(schedulesQuery(id))
  const create = can('schedule.create') && (
    <Button variant="primary" icon={Plus} disabled={isBlocked(server)} onClick={() => setCreating({})}>
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
            <NoSchedules onChoose={(name) => setCreating({ template: name })} />
          ) : (
            <RowList label={t('title')}>
              {rows.map((schedule) => (
                <ScheduleRow key={schedule.id} schedule={schedule} />
              ))}
            </RowList>
          )
        }
      </Loaded>
      {creating && (
        <ScheduleForm
          initialTemplate={creating.template}
          onClose={() => setCreating(null)}
          onSaved={openNew}
        />
      )}
    </div>
  )
}

/** Says that there are no schedules, and offers what most servers begin with. */
function NoSchedules({ onChoose }: { onChoose: (template: TemplateName) => void }) {
  const { t } = useTranslation('schedules')
  const { server, can } = useServer()
  const templates = useAllowedTemplates()
  if (!can('schedule.create')) return <EmptyState icon={CalendarClock} title={t('empty')} />
  return (
    <EmptyState icon={CalendarClock} title={t('empty')} text={t('empty_text')}>
      {templates.map((name) => (
        <Button key={name} disabled={isBlocked(server)} onClick={() => onChoose(name)}>
          {t(`template.${name}`)}
        </Button>
      ))}
    </EmptyState>
  )
}
