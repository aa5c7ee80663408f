import { Plus, Server as ServerIcon } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { buttonStyle } from '../../components/button.tsx'
import { AdminLink } from '../admin-link.tsx'
import { can } from '../levels.ts'
import { AdminList } from '../list/admin-list.tsx'
import type { Server, User } from '../resources.ts'
import { useServerColumns } from '../servers/servers-page.tsx'

/** The servers that a user owns. */
export function UserServers({ user }: { user: User }) {
  const { t } = useTranslation('admin')
  const [first, ...others] = useServerColumns()
  return (
    <AdminList<Server>
      isPart
      title={t('nav.servers')}
      icon={ServerIcon}
      path="/servers"
      query={{ include: 'node,egg,allocations,state', sort: '-id', 'filter[user_id]': user.id }}
      searchBy="search"
      columns={[first, ...others.filter(({ name }) => name !== 'owner')]}
      keyOf={({ id }) => id}
      linkTo={({ id }) => `servers/${id}`}
      empty={t('users.no_servers')}
      actions={
        can('servers', 'write') && (
          <AdminLink to="servers/new" search={{ user: user.id }} className={buttonStyle()}>
            <Plus aria-hidden className="size-4" />
            {t('servers.create')}
          </AdminLink>
        )
      }
    />
  )
}
