import { Layers } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatNumber } from '../../app/formats.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { AdminList } from '../list/admin-list.tsx'
import type { BulkSummary } from '../resources.ts'
import { textOfAction } from './bulk-actions.ts'
import { BulkState } from './bulk-state.tsx'

const refetchIntervalMs = 5000

/** The actions on many servers of the last days. */
export function BulkOperationsPage() {
  const { t } = useTranslation('admin')
  return (
    <AdminList<BulkSummary>
      title={t('bulk.title')}
      text={t('bulk.kept')}
      icon={Layers}
      path="/bulk-operations"
      crumbs={[{ to: 'servers', text: t('nav.servers') }]}
      refetchIntervalMs={refetchIntervalMs}
      keyOf={({ id }) => id}
      linkTo={({ id }) => `bulk-operations/${id}`}
      empty={t('bulk.empty')}
      columns={[
        {
          name: 'action',
          label: t('bulk.action'),
          cell: (operation) => t(`bulk.${textOfAction(operation)}`),
        },
        {
          name: 'state',
          label: t('strings:word.status'),
          cell: (operation) => <BulkState operation={operation} />,
        },
        {
          name: 'done',
          label: t('bulk.state_done'),
          isNumber: true,
          cell: ({ totals }) => formatNumber(totals.done),
        },
        {
          name: 'failed',
          label: t('bulk.state_failed'),
          isNumber: true,
          cell: ({ totals }) => formatNumber(totals.failed),
        },
        {
          name: 'left',
          label: t('bulk.left'),
          isNumber: true,
          cell: ({ totals }) => formatNumber(totals.pending + totals.running),
        },
        {
          name: 'created',
          label: t('word.started'),
          cell: ({ created_at: at }) => <RelativeTime at={at} />,
        },
      ]}
    />
  )
}
