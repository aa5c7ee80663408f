import { useQuery } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { formatDateTime, formatNumber } from '../../app/formats.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Progress } from '../../components/meter.tsx'
import { Loaded } from '../../components/states.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, linkStyle, useAdminNavigate } from '../admin-link.tsx'
import { AdminPage } from '../admin-page.tsx'
import { can } from '../levels.ts'
import type { PageParams } from '../pages.ts'
import type { BulkOperation, Item } from '../resources.ts'
import { startBulk, textOfAction } from './bulk-actions.ts'
import { BulkState } from './bulk-state.tsx'

const pollIntervalMs = 1500

type OperationItem = BulkOperation['items'][number]
type State = OperationItem['state']

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

function Operation({ operation }: { operation: BulkOperation }) {
  const { t } = useTranslation('admin')
  const { totals, items, node_id: node } = operation
  const ended = totals.done + totals.failed
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-col gap-2 rounded-card border border-line bg-surface p-4">
        <p aria-live="polite" className="flex flex-wrap justify-between gap-2 text-sm tabular-nums">
          <span>{t('bulk.progress', { ended: formatNumber(ended), total: formatNumber(items.length) })}</span>
          <span className="text-muted">{formatDateTime(operation.created_at)}</span>
        </p>
        <Progress label={t('bulk.title')} ratio={ended / items.length} />
        {node !== null && (
          <p className="text-sm">
            {t('servers.to')}:{' '}
            <AdminLink to={`nodes/${node}`} className={linkStyle}>
              #{node}
            </AdminLink>
          </p>
        )}
      </div>
      <ul
        aria-label={t('nav.servers')}
        className="divide-y divide-line rounded-card border border-line bg-surface"
      >
        {items.toSorted(byState).map((item) => (
          <ItemRow key={item.server_id} item={item} />
        ))}
      </ul>
    </div>
  )
}

/** What needs attention comes first. */
const states: readonly State[] = ['failed', 'running', 'pending', 'done']
const byState = (one: OperationItem, other: OperationItem) =>
  states.indexOf(one.state) - states.indexOf(other.state)
const tones: Record<State, Tone> = { failed: 'bad', running: 'info', pending: 'plain', done: 'good' }

function ItemRow({ item: { server_id: id, name, state, error } }: { item: OperationItem }) {
  const { t } = useTranslation('admin')
  const isCancelled = error?.code === 'BulkOperationCancelledException'
  return (
    <li className="flex min-h-11 flex-wrap items-center justify-between gap-x-3 gap-y-1 px-4 py-2 text-sm">
      {name === null ? (
        <span className="text-muted">#{id}</span>
      ) : (
        <AdminLink to={`servers/${id}`} className={`${linkStyle} wrap-anywhere`}>
          {name}
        </AdminLink>
      )}
      <Badge tone={isCancelled ? 'plain' : tones[state]}>
        {t(isCancelled ? 'bulk.state_cancelled' : `bulk.state_${state}`)}
      </Badge>
      {error && !isCancelled && <p className="basis-full text-muted">{error.detail}</p>}
    </li>
  )
}
