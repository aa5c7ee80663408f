import { ListTodo, RotateCw, Trash2 } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { Badge } from '../../components/badge.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { AdminAction } from '../admin-action.tsx'
import { can } from '../levels.ts'
import { AdminList } from '../list/admin-list.tsx'
import type { Job } from '../resources.ts'

const states = ['waiting', 'done', 'dead'] as const
const tones = { waiting: 'info', done: 'good', dead: 'bad' } as const
const refetchIntervalMs = 10_000

/** Background jobs, live: what waits, what ran, and what was abandoned and why. */
export function JobsPage() {
  const { t } = useTranslation('admin')
  return (
    <AdminList<Job>
      title={t('nav.jobs')}
      icon={ListTodo}
      path="/jobs"
      searchBy="filter[name]"
      searchLabel={t('jobs.search')}
      filters={[
        {
          name: 'state',
          label: t('strings:word.status'),
          choices: states.map((state) => [state, t(`jobs.${state}`)]),
        },
      ]}
      refetchIntervalMs={refetchIntervalMs}
      keyOf={({ id }) => id}
      empty={t('jobs.empty')}
      columns={[
        {
          name: 'name',
          label: t('strings:word.name'),
          cell: ({ name }) => <code className="text-xs">{name}</code>,
        },
        {
          name: 'state',
          label: t('strings:word.status'),
          cell: ({ state, is_running: isRunning }) => (
            <Badge tone={tones[state]}>{t(isRunning ? 'jobs.running' : `jobs.${state}`)}</Badge>
          ),
        },
        { name: 'attempts', label: t('jobs.attempts'), isNumber: true, cell: ({ attempts }) => attempts },
        {
          name: 'time',
          label: t('jobs.time'),
          cell: ({ finished_at: finished, run_at: due }) => <RelativeTime at={finished ?? due} />,
        },
        {
          name: 'error',
          label: t('jobs.cause'),
          cell: ({ last_error: error }) => <span className="text-xs">{error ?? '–'}</span>,
        },
        {
          name: 'payload',
          label: t('jobs.payload'),
          isOptional: true,
          cell: ({ payload }) => <code className="text-xs">{JSON.stringify(payload)}</code>,
        },
        {
          name: 'id',
          label: t('word.id'),
          isOptional: true,
          cell: ({ id }) => <code className="text-xs">{id}</code>,
        },
      ]}
      {...(can('jobs', 'write') ? { rowActions: (job: Job) => <JobActions job={job} /> } : {})}
    />
  )
}

function JobActions({ job }: { job: Job }) {
  const { t } = useTranslation('admin')
  if (job.state === 'done' || job.is_running) return null
  return (
    <span className="flex">
      <AdminAction
        icon={RotateCw}
        isCompact
        label={t('jobs.retry')}
        run={() => adminSend('POST', `/jobs/${job.id}/retry`)}
        done={t('jobs.retried')}
      />
      <AdminAction
        icon={Trash2}
        isCompact
        label={t('jobs.discard')}
        run={() => adminSend('DELETE', `/jobs/${job.id}`)}
        done={t('jobs.discarded')}
        confirm={{ title: t('jobs.discard'), text: t('jobs.discard_text') }}
      />
    </span>
  )
}
