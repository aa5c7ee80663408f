import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createFileRoute, Link } from '@tanstack/react-router'
import { Archive, CalendarClock, Plus } from 'lucide-react'
import { useCallback, useState } from 'react'
import { useTranslation } from '../../../../app/use-translation.ts'
import { type Backups, backupsKey, backupsQuery } from '../../../../api/backups.ts'
import { usePageTitle } from '../../../../app/page-title.ts'
import { loadTexts } from '../../../../app/texts.ts'
import { Button, buttonStyle } from '../../../../components/button.tsx'
import { PageHeader, RowList } from '../../../../components/card.tsx'
import { Meter } from '../../../../components/meter.tsx'
import { EmptyState, Loaded } from '../../../../components/states.tsx'
import { BackupRow } from '../../../../server/backups/backup-row.tsx'
import { BackupTrend } from '../../../../server/backups/backup-trend.tsx'
import { CreateBackup } from '../../../../server/backups/create-backup.tsx'
import type { SocketEvent } from '../../../../server/console-socket.ts'
import { useRefetchWhenUnblocked } from '../../../../server/use-refetch-when-unblocked.ts'
import { useServer, useSocketEvents } from '../../../../server/server-context.tsx'
import { isBlocked } from '../../../../server/server-state.ts'

export const Route = createFileRoute('/_app/server/$server/backups')({
  loader: () => loadTexts('backups'),
  component: BackupsPage,
})

function BackupsPage() {
  const { t } = useTranslation('backups')
  const { id, server, can } = useServer()
  usePageTitle(t('title'), server.name)
  useRefetchWhenUnblocked()
  useCompletedBackups()
  const [creating, setCreating] = useState(false)
  const backups = useQuery(backupsQuery(id))
  const limit = server.feature_limits.backups
  const isFull = (backups.data?.used ?? 0) >= limit
  const create = can('backup.create') && limit > 0 && (
    <Button
      variant="primary"
      icon={Plus}
      disabled={!backups.data || isFull || isBlocked(server)}
      onClick={() => setCreating(true)}
    >
      {t('create')}
    </Button>
  )
  return (
    <div>
      <PageHeader
        title={t('title')}
        text={t('text')}
        actions={
          <>
            {limit > 0 && <ScheduleLink />}
            {create}
          </>
        }
      />
      <Loaded query={backups}>
        {(data) => (
          <div className="flex flex-col gap-4">
            <div className="flex flex-wrap items-end justify-between gap-x-8 gap-y-4">
              {limit > 0 && <BackupLimit used={data.used} limit={limit} />}
              <BackupTrend backups={data.rows} />
            </div>
            <BackupRows backups={data} limit={limit} />
          </div>
        )}
      </Loaded>
      {creating && <CreateBackup onClose={() => setCreating(false)} />}
    </div>
  )
}

/** Leads to a new schedule that creates backups, for those who may create it. */
function ScheduleLink() {
  const { t } = useTranslation('backups')
  const { id, server, can } = useServer()
  const isAllowed = ['schedule.create', 'schedule.update', 'backup.create'].every(can)
  if (!isAllowed || isBlocked(server)) return null
  return (
    <Link
      to="/server/$server/schedules"
      params={{ server: id }}
      search={{ template: 'backup' }}
      className={`${buttonStyle()} hover:bg-raised`}
    >
      <CalendarClock aria-hidden className="size-4" />
      {t('schedule')}
    </Link>
  )
}

/** Refetches the backups when the daemon reports a completed one; some daemons append its ID to the event name. */
function useCompletedBackups(): void {
  const { id } = useServer()
  const queries = useQueryClient()
  const onEvent = useCallback(
    ({ event }: SocketEvent) => {
      if (event.startsWith('backup completed')) void queries.invalidateQueries({ queryKey: backupsKey(id) })
    },
    [id, queries],
  )
  useSocketEvents(onEvent)
}

function BackupLimit({ used, limit }: { used: number; limit: number }) {
  const { t } = useTranslation('backups')
  return (
    <div className="w-full max-w-md">
      <Meter label={t('limit_label')} value={used} limit={limit} text={t('used', { used, limit })} />
      {used >= limit && <p className="mt-1.5 text-sm text-muted">{t('full')}</p>}
    </div>
  )
}

function BackupRows({ backups, limit }: { backups: Backups; limit: number }) {
  const { t } = useTranslation('backups')
  const { can } = useServer()
  if (backups.rows.length > 0) {
    return (
      <RowList label={t('title')}>
        {backups.rows.map((backup) => (
          <BackupRow key={backup.uuid} backup={backup} />
        ))}
      </RowList>
    )
  }
  if (limit === 0)
    return <EmptyState icon={Archive} title={t('none_allowed')} text={t('none_allowed_text')} />
  return (
    <EmptyState
      icon={Archive}
      title={t('empty')}
      {...(can('backup.create') ? { text: t('empty_text') } : {})}
    />
  )
}
