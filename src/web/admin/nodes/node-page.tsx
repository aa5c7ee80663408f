import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery } from '../../api/admin.ts'
import { Loaded } from '../../components/states.tsx'
import { AdminPage, PartTabs } from '../admin-page.tsx'
import { can } from '../levels.ts'
import type { PageParams } from '../pages.ts'
import type { Item, Node } from '../resources.ts'
import { NodeAllocations } from './node-allocations.tsx'
import { NodeConfiguration } from './node-configuration.tsx'
import { NodeDoctor } from './node-doctor.tsx'
import { NodeSettings } from './node-form.tsx'
import { NodeManage } from './node-manage.tsx'
import { NodeOverview } from './node-overview.tsx'
import { NodeServers } from './node-servers.tsx'
import { NodeUsage } from './node-usage.tsx'
import { NodeState } from './node-state.tsx'

const parts = {
  '': NodeOverview,
  settings: NodeSettings,
  servers: NodeServers,
  allocations: NodeAllocations,
  usage: NodeUsage,
  doctor: NodeDoctor,
  configuration: NodeConfiguration,
  manage: NodeManage,
}
const isPart = (part: string): part is keyof typeof parts => Object.hasOwn(parts, part)
const refetchIntervalMs = 30_000

/** One node and its parts. */
export function NodePage({ params: { id = '', part = '' } }: { params: PageParams }) {
  const { t } = useTranslation('admin')
  const query = useQuery({
    ...adminQuery<Item<Node>>(`/nodes/${id}`, { include: 'location,heartbeat' }),
    select: ({ attributes }) => attributes,
    refetchInterval: refetchIntervalMs,
  })
  const Part = parts[isPart(part) ? part : '']
  const hidden = [
    ...(can('servers', 'read') ? [] : ['servers']),
    ...(can('allocations', 'read') ? [] : ['allocations']),
    ...(can('nodes', 'write') ? [] : ['configuration', 'manage']),
  ]
  const tabs = Object.keys(parts)
    .filter((name) => !hidden.includes(name))
    .map((name) => [name, t(`nodes.part_${name || 'overview'}`)] as const)
  return (
    <AdminPage
      title={query.data?.name ?? `#${id}`}
      crumbs={[{ to: 'nodes', text: t('nav.nodes') }]}
      text={
        query.data && (
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <NodeState node={query.data} />
            <span className="private font-mono text-xs">{query.data.fqdn}</span>
            <span>{query.data.relationships?.location?.attributes?.short}</span>
          </span>
        )
      }
      tabs={
        <PartTabs
          label={t('nodes.parts')}
          base={`nodes/${id}`}
          part={isPart(part) ? part : ''}
          parts={tabs}
        />
      }
    >
      <Loaded query={query}>{(node) => <Part node={node} />}</Loaded>
    </AdminPage>
  )
}
