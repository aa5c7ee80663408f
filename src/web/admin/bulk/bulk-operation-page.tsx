import { useQuery } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { formatDateTime } from '../../app/formats.ts'
import { Loaded } from '../../components/states.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, linkStyle, useAdminNavigate } from '../admin-link.tsx'
import { AdminPage } from '../admin-page.tsx'
import { can } from '../levels.ts'
import type { PageParams } from '../pages.ts'
import type { BulkOperation, Item } from '../resources.ts'
import { startBulk, textOfAction } from './bulk-actions.ts'
import { BulkState } from './bulk-state.tsx'
import { BulkItems, BulkProgress } from './item-list.tsx'

const pollIntervalMs = 1500

/** How far an action on many servers is, server by server. */
export function BulkOperationPage({ params: { id = '' } }: { params: PageParams }) {
  const { t } = useTranslation('admin')
  const query = useQuery({
    ...adminQuery<Item<BulkOperation>>(`/bulk-operations/${id}`),
    refetchInterval: ({ state }) => (state.data?.attributes.finished_at === null ? pollIntervalMs : false),
  })
  const operation = query.data?.attributes
  return (
    <AdminPage
      title={operation ? t(`bulk.${textOfAction(operation)}`) : `#${id}`}
      text={operation && <BulkState operation={operation} />}
      crumbs={[
        { to: 'servers', text: t('nav.servers') },
        { to: 'bulk-operations', text: t('bulk.title') },
      ]}
      actions={operation && can('servers', 'write') && <Actions operation={operation} />}
    >
      <Loaded query={query}>{({ attributes }) => <Operation operation={attributes} />}</Loaded>
    </AdminPage>
  )
}

function Actions({ operation }: { operation: BulkOperation }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  const failed = operation.items.filter(({ state }) => state === 'failed').map(({ server_id: id }) => id)
  if (operation.totals.pending > 0)
    return (
      <AdminAction
        label={t('bulk.cancel')}
        variant="danger"
        run={() => adminSend('DELETE', `/bulk-operations/${operation.id}`)}
        done={t('bulk.cancelled')}
        confirm={{ title: t('bulk.cancel'), text: t('bulk.cancel_text') }}
      />
    )
  if (operation.finished_at === null || failed.length === 0) return null
  const { action, signal, node_id: node, force } = operation
  const again = {
    action,
    ...(signal === null ? {} : { signal }),
    ...(node === null ? {} : { node }),
    ...(force === null ? {} : { force }),
  }
  return (
    <AdminAction
      icon={RotateCw}
      label={t('bulk.retry', { count: failed.length })}
      run={async () => {
        const { attributes } = await startBulk(again, failed)
        navigate(`bulk-operations/${attributes.id}`)
      }}
    />
  )
}

const Operation = ({ operation }: { operation: BulkOperation }) => (
  <div className="flex flex-col gap-4">
    <Summary operation={operation} />
    <BulkItems items={operation.items} />
  </div>
)

function Summary({ operation: { items, node_id: node, created_at: at } }: { operation: BulkOperation }) {
  const { t } = useTranslation('admin')
  return (
    <BulkProgress
      label={t('bulk.title')}
      items={items}
      beside={<span className="text-muted">{formatDateTime(at)}</span>}
    >
      {node !== null && (
        <p className="text-sm">
          {t('servers.to')}:{' '}
          <AdminLink to={`nodes/${node}`} className={linkStyle}>
            #{node}
          </AdminLink>
        </p>
      )}
    </BulkProgress>
  )
}
