import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { addressOfAllocation } from '../addresses.ts'
import { AdminAction } from '../admin-action.tsx'
import { freeAllocationChoices } from '../form/choice-sources.ts'
import { Picker } from '../form/picker.tsx'
import { ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import { relatedRows, type Allocation, type Server } from '../resources.ts'
import { LimitFields, limitsBody, limitsOf } from './limit-fields.tsx'
import { currentServer } from './server-queries.ts'

/** Limits and allocations of a server. */
export const ServerBuild = ({ server }: { server: Server }) => (
  <div className="flex flex-col gap-4">
    <Allocations server={server} />
    <ResourceForm
      initial={limitsOf(server)}
      fetchCurrent={currentServer(server.id, limitsOf)}
      subject={{ type: 'server', id: server.id }}
      isReadOnly={!can('servers', 'write')}
      save={(values, version) => changeBuild(server, limitsBody(values), version)}
    >
      <LimitFields />
    </ResourceForm>
  </div>
)

/** Changes the build of a server; what is not named stays. */
const changeBuild = (server: Server, changes: object, version: string | null = null) =>
  adminSend(
    'PATCH',
    `/servers/${server.id}/build`,
    { allocation: server.allocation, ...limitsBody(limitsOf(server)), ...changes },
    version,
  )

function Allocations({ server }: { server: Server }) {
  const { t } = useTranslation('admin')
  const [adding, setAdding] = useState('')
  const allocations = relatedRows(server.relationships?.allocations)
  const isWriter = can('servers', 'write')
  return (
    <Card title={t('servers.allocations')} text={t('servers.allocations_text')}>
      <ul
        aria-label={t('servers.allocations')}
        className="divide-y divide-line rounded-control border border-line"
      >
        {allocations.map((allocation) => (
          <AllocationRow key={allocation.id} server={server} allocation={allocation} />
        ))}
      </ul>
      {isWriter && (
        <div className="mt-3 flex flex-wrap items-end gap-2">
          <Picker
            label={t('servers.add_allocation')}
            className="grow basis-52 sm:max-w-72"
            source={freeAllocationChoices(String(server.node))}
            value={adding}
            onChange={setAdding}
          />
          {adding === '' ? (
            <Button icon={Plus} disabled>
              {t('strings:action.add')}
            </Button>
          ) : (
            <AdminAction
              icon={Plus}
              label={t('strings:action.add')}
              run={() => changeBuild(server, { add_allocations: [Number(adding)] })}
              onDone={() => setAdding('')}
            />
          )}
        </div>
      )}
    </Card>
  )
}

function AllocationRow({ server, allocation }: { server: Server; allocation: Allocation }) {
  const { t } = useTranslation('admin')
  const address = addressOfAllocation(allocation)
  const isPrimary = allocation.id === server.allocation
  return (
    <li className="flex min-h-12 flex-wrap items-center gap-x-3 px-3 text-sm">
      <code className="private min-w-0 flex-1 wrap-anywhere">{address}</code>
      {allocation.notes && <span className="text-muted">{allocation.notes}</span>}
      {isPrimary ? (
        <Badge tone="brand">{t('servers.primary')}</Badge>
      ) : (
        can('servers', 'write') && (
          <span className="flex items-center gap-1">
            <AdminAction
              label={t('servers.make_primary')}
              variant="quiet"
              run={() => changeBuild(server, { allocation: allocation.id })}
            />
            <AdminAction
              label={t('servers.remove_allocation', { address })}
              icon={X}
              isCompact
              run={() => changeBuild(server, { remove_allocations: [allocation.id] })}
            />
          </span>
        )
      )}
    </li>
  )
}
