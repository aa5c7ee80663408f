import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { Database as DatabaseIcon, Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTranslation } from '../../../../app/use-translation.ts'
import { type Database, databasesQuery } from '../../../../api/databases.ts'
import { usePageTitle } from '../../../../app/page-title.ts'
import { loadTexts } from '../../../../app/texts.ts'
import { Button } from '../../../../components/button.tsx'
import { PageHeader, RowList } from '../../../../components/card.tsx'
import { Meter } from '../../../../components/meter.tsx'
import { EmptyState, Loaded } from '../../../../components/states.tsx'
import { ConnectionDetails } from '../../../../server/databases/connection-details.tsx'
import { CreateDatabase } from '../../../../server/databases/create-database.tsx'
import { DatabaseRow } from '../../../../server/databases/database-row.tsx'
import { useRefetchWhenUnblocked } from '../../../../server/use-refetch-when-unblocked.ts'
import { useServer } from '../../../../server/server-context.tsx'
import { isBlocked } from '../../../../server/server-state.ts'

export const Route = createFileRoute('/_app/server/$server/databases')({
  loader: () => loadTexts('databases'),
  component: DatabasesPage,
})

function DatabasesPage() {
  const { t } = useTranslation('databases')
  const { id, server, can, offers } = useServer()
  usePageTitle(t('title'), server.name)
  useRefetchWhenUnblocked()
  const [creating, setCreating] = useState(false)
  const [detailed, setDetailed] = useState<Database | null>(null)
  const databases = useQuery(databasesQuery(id))
  const limit = server.feature_limits.databases
  const isFull = limit !== null && (databases.data?.length ?? 0) >= limit
  const create = can('database.create') && offers.databases && limit !== 0 && (
    <Button
      variant="primary"
      icon={Plus}
      disabled={!databases.data || isFull || isBlocked(server)}
      onClick={() => setCreating(true)}
    >
      {t('create')}
    </Button>
  )
  const showCreated = (database: Database) => {
    setCreating(false)
    setDetailed(database)
  }
  return (
    <div>
      <PageHeader
        title={t('title')}
        text={t('text')}
        actions={databases.data && databases.data.length > 0 && create}
      />
      <Loaded query={databases}>
        {(rows) => (
          <div className="flex flex-col gap-4">
            {limit !== 0 && <DatabaseLimit used={rows.length} limit={limit} />}
            <DatabaseRows rows={rows} limit={limit} create={create} onDetails={setDetailed} />
          </div>
        )}
      </Loaded>
      {creating && <CreateDatabase onClose={() => setCreating(false)} onCreated={showCreated} />}
      {detailed && <ConnectionDetails database={detailed} onClose={() => setDetailed(null)} />}
    </div>
  )
}

function DatabaseLimit({ used, limit }: { used: number; limit: number | null }) {
  const { t } = useTranslation('databases')
  if (limit === null) return null
  return (
    <div className="max-w-md">
      <Meter label={t('limit_label')} value={used} limit={limit} text={t('used', { used, limit })} />
      {used >= limit && <p className="mt-1.5 text-sm text-muted">{t('full')}</p>}
    </div>
  )
}

type RowsProps = {
  rows: Database[]
  limit: number | null
  /** The button that creates one, if the user may. */
  create: ReactNode
  onDetails: (database: Database) => void
}

function DatabaseRows({ rows, limit, create, onDetails }: RowsProps) {
  const { t } = useTranslation('databases')
  const { can, offers } = useServer()
  if (rows.length > 0) {
    return (
      <RowList label={t('title')}>
        {rows.map((database) => (
          <DatabaseRow key={database.id} database={database} onDetails={onDetails} />
        ))}
      </RowList>
    )
  }
  if (limit === 0)
    return <EmptyState icon={DatabaseIcon} title={t('none_allowed')} text={t('none_allowed_text')} />
  return (
    <EmptyState
      icon={DatabaseIcon}
      title={t('empty')}
      {...(offers.databases
        ? can('database.create')
          ? { text: t('empty_text') }
          : {}
        : { text: t('unavailable') })}
    >
      {create}
    </EmptyState>
  )
}
