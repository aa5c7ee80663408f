import { useTranslation } from '../../app/use-translation.ts'
import { Badge } from '../../components/badge.tsx'
import type { Node } from '../resources.ts'

/** Whether a node answered at the last check of each minute. */
export function NodeState({ node }: { node: Node }) {
  const { t } = useTranslation('admin')
  const state = node.relationships?.heartbeat?.attributes?.state ?? 'unknown'
  const tone = state === 'up' ? 'good' : state === 'down' ? 'bad' : 'plain'
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      <Badge tone={tone}>{t(`nodes.state_${state}`)}</Badge>
      {node.maintenance_mode && <Badge tone="warn">{t('nodes.maintenance')}</Badge>}
    </span>
  )
}
