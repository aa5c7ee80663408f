import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { formatBytes, formatDateTime, formatNumber, formatPercent } from '../../app/formats.ts'
import { Banner } from '../../components/badge.tsx'
import { Card } from '../../components/card.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { AdminAction } from '../admin-action.tsx'
import { Facts } from '../admin-page.tsx'
import type { Node } from '../resources.ts'
import { can } from '../levels.ts'
import { CertificateBanner } from './certificate-banner.tsx'
import { NodeMounts } from './node-mounts.tsx'
import { limitWith, Promised } from './nodes-page.tsx'

/** From this many seconds on, tokens of the panel can fail at the node. */
const maxClockOffsetSeconds = 30

/** State, usage and facts of a node. */
export function NodeOverview({ node }: { node: Node }) {
  const { t } = useTranslation('admin')
  const heartbeat = node.relationships?.heartbeat?.attributes
  const offset = heartbeat?.clock_offset_seconds ?? 0
  return (
    <div className="flex flex-col gap-4">
      {heartbeat?.state === 'down' && (
        <Banner tone="bad" title={t('nodes.down', { name: node.name })} actions={<CheckNow node={node} />}>
          {t(`nodes.cause_${heartbeat.cause ?? 'failed'}`)}
        </Banner>
      )}
      {(heartbeat?.state ?? 'unknown') === 'unknown' && (
        <Banner
          tone="info"
          title={t('nodes.waiting', { name: node.name })}
          actions={<CheckNow node={node} />}
        >
          {t('nodes.waiting_text')}
        </Banner>
      )}
      {Math.abs(offset) > maxClockOffsetSeconds && (
        <Banner tone="warn" title={t('nodes.clock', { seconds: formatNumber(offset) })}>
          {t('nodes.clock_text')}
        </Banner>
      )}
      <CertificateBanner node={node} />
      <div className="grid items-start gap-4 xl:grid-cols-2">
        <Card title={t('nodes.capacity')}>
          <div className="flex flex-col gap-4">
            <Promised
              label={t('nodes.promised_memory')}
              promised={node.allocated_resources.memory}
              limit={limitWith(node.memory, node.memory_overallocate)}
            />
            <Promised
              label={t('nodes.promised_disk')}
              promised={node.allocated_resources.disk}
              limit={limitWith(node.disk, node.disk_overallocate)}
            />
            <Facts
              rows={[
                [
                  t('strings:resource.cpu'),
                  heartbeat?.usage ? formatPercent(heartbeat.usage.cpu_absolute) : '–',
                ],
                [t('nodes.used_memory'), heartbeat?.usage ? formatBytes(heartbeat.usage.memory_bytes) : '–'],
                [t('nodes.used_disk'), heartbeat?.usage ? formatBytes(heartbeat.usage.disk_bytes) : '–'],
                [
                  t('nodes.running'),
                  heartbeat?.usage
                    ? `${formatNumber(heartbeat.usage.running_servers)} / ${formatNumber(heartbeat.usage.servers)}`
                    : '–',
                ],
              ]}
            />
          </div>
        </Card>
        <NodeFacts node={node} />
      </div>
      {can('mounts', 'read') && <NodeMounts node={node} />}
    </div>
  )
}

function NodeFacts({ node }: { node: Node }) {
  const { t } = useTranslation('admin')
  const heartbeat = node.relationships?.heartbeat?.attributes
  return (
    <Card title={t('nodes.facts')}>
      <Facts
        rows={[
          [t('word.id'), node.id],
          [
            'UUID',
            <code key="uuid" className="text-xs">
              {node.uuid}
            </code>,
          ],
          [t('nodes.version'), heartbeat?.version ?? '–'],
          [
            t('nodes.checked'),
            heartbeat?.checked_at ? (
              <RelativeTime key="checked" at={heartbeat.checked_at} />
            ) : (
              t('strings:word.never')
            ),
          ],
          [
            t('nodes.latency'),
            typeof heartbeat?.latency_ms === 'number' ? `${formatNumber(heartbeat.latency_ms)} ms` : '–',
          ],
          ...(node.scheme === 'https'
            ? [
                [
                  t('nodes.certificate'),
                  heartbeat?.certificate_ends_at
                    ? formatDateTime(heartbeat.certificate_ends_at)
                    : t('nodes.certificate_unknown'),
                ] as const,
              ]
            : []),
          [t('word.created'), formatDateTime(node.created_at)],
        ]}
      />
    </Card>
  )
}

/** Asks the node at once, instead of at the next minute. */
function CheckNow({ node }: { node: Node }) {
  const { t } = useTranslation('admin')
  return <AdminAction label={t('nodes.check')} run={() => adminSend('POST', `/nodes/${node.id}/heartbeat`)} />
}
