import { Server as ServerIcon } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { AdminList } from '../list/admin-list.tsx'
import type { Node, Server } from '../resources.ts'
import { useServerColumns } from '../servers/servers-page.tsx'

/** The servers of a node. */
export function NodeServers({ node }: { node: Node }) {
  const { t } = useTranslation('admin')
  const [first, ...others] = useServerColumns()
  return (
    <AdminList<Server>
      isPart
      title={t('nav.servers')}
      icon={ServerIcon}
      path="/servers"
      query={{ include: 'user,node,egg,allocations,state', sort: '-id', 'filter[node_id]': node.id }}
      searchBy="search"
      columns={[first, ...others.filter(({ name }) => name !== 'node')]}
      keyOf={({ id }) => id}
      linkTo={({ id }) => `servers/${id}`}
      empty={t('servers.empty')}
    />
  )
}
