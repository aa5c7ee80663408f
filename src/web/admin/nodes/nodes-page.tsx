import { HardDrive, Plus } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatMebibytes } from '../../app/formats.ts'
import { buttonStyle } from '../../components/button.tsx'
import { Meter } from '../../components/meter.tsx'
import { AdminLink } from '../admin-link.tsx'
import { locationChoices } from '../form/choice-sources.ts'
import { can } from '../levels.ts'
import { AdminList } from '../list/admin-list.tsx'
import type { Node } from '../resources.ts'
import { NodeState } from './node-state.tsx'

const refetchIntervalMs = 30_000

/** Returns how much a node may promise: null without a limit. */
export const limitWith = (amount: number, overallocate: number): number | null =>
  overallocate < 0 ? null : Math.floor((amount * (100 + overallocate)) / 100)

/** How much of a node's memory or disk its servers have been promised. */
export function Promised({
  label,
  promised,
  limit,
}: {
  label: string
  promised: number
  limit: number | null
}) {
  const text = `${formatMebibytes(promised)} / ${limit === null ? '∞' : formatMebibytes(limit)}`
  return (
    <div className="min-w-28">
      <Meter hideLabel label={label} value={promised} limit={limit} text={text} />
    </div>
  )
}

/** The nodes with their state and usage. */
export function NodesPage() {
  const { t } = useTranslation('admin')
  return (
    <AdminList<Node>
      title={t('nav.nodes')}
      icon={HardDrive}
      path="/nodes"
      query={{ include: 'location,heartbeat' }}
      searchBy="search"
      searchLabel={t('nodes.search')}
      filters={[{ name: 'location_id', label: t('word.location'), source: locationChoices }]}
      refetchIntervalMs={refetchIntervalMs}
      keyOf={({ id }) => id}
      linkTo={({ id }) => `nodes/${id}`}
      empty={t('nodes.empty')}
      actions={
        can('nodes', 'write') && (
          <AdminLink to="nodes/new" className={buttonStyle('primary')}>
            <Plus aria-hidden className="size-4" />
            {t('nodes.create')}
          </AdminLink>
        )
      }
      columns={[
        { name: 'name', label: t('strings:word.name'), sort: 'id', cell: ({ name }) => name },
        { name: 'state', label: t('strings:word.status'), cell: (node) => <NodeState node={node} /> },
        {
          name: 'location',
          label: t('word.location'),
          cell: ({ location_id: id, relationships }) =>
            relationships?.location?.attributes?.short ?? `#${id}`,
        },
        {
          name: 'fqdn',
          label: t('field.fqdn'),
          cell: ({ fqdn }) => <span className="private font-mono text-xs">{fqdn}</span>,
        },
        {
          name: 'memory',
          label: t('strings:resource.memory'),
          sort: 'memory',
          cell: (node) => (
            <Promised
              label={t('nodes.promised')}
              promised={node.allocated_resources.memory}
              limit={limitWith(node.memory, node.memory_overallocate)}
            />
          ),
        },
        {
          name: 'disk',
          label: t('strings:resource.disk'),
          sort: 'disk',
          cell: (node) => (
            <Promised
              label={t('nodes.promised')}
              promised={node.allocated_resources.disk}
              limit={limitWith(node.disk, node.disk_overallocate)}
            />
          ),
        },
        {
          name: 'running',
          label: t('nodes.running'),
          isNumber: true,
          cell: ({ relationships }) => relationships?.heartbeat?.attributes?.usage?.running_servers ?? '–',
        },
        {
          name: 'version',
          label: t('nodes.version'),
          isOptional: true,
          cell: ({ relationships }) => relationships?.heartbeat?.attributes?.version ?? '–',
        },
        {
          name: 'public',
          label: t('field.public'),
          isOptional: true,
          cell: (node) => t(node.public ? 'strings:word.yes' : 'strings:word.no'),
        },
      ]}
    />
  )
}
