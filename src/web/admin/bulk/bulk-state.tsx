import { useTranslation } from '../../app/use-translation.ts'
import { Badge } from '../../components/badge.tsx'
import type { BulkSummary } from '../resources.ts'

/** Whether an action on many servers is done, and how it ended. */
export function BulkState({ operation }: { operation: Pick<BulkSummary, 'finished_at' | 'totals'> }) {
  const { t } = useTranslation('admin')
  const { finished_at: finishedAt, totals } = operation
  if (finishedAt === null) return <Badge tone="info">{t('bulk.state_running')}</Badge>
  if (totals.failed === 0) return <Badge tone="good">{t('bulk.state_done')}</Badge>
  return <Badge tone={totals.done === 0 ? 'bad' : 'warn'}>{t('bulk.with_failures')}</Badge>
}
