import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery } from '../../api/admin.ts'
import { PrivateText } from '../../components/private-text.tsx'
import { Loaded } from '../../components/states.tsx'
import { AdminPage, PartTabs } from '../admin-page.tsx'
import { can } from '../levels.ts'
import { ActivityLink } from '../panel/activity-link.tsx'
import type { PageParams } from '../pages.ts'
import type { Item, User } from '../resources.ts'
import { UserAccess } from './user-access.tsx'
import { UserForm } from './user-form.tsx'
import { UserManage } from './user-manage.tsx'
import { UserServers } from './user-servers.tsx'
import { UserRole } from './users-page.tsx'

const parts = { '': UserForm, servers: UserServers, access: UserAccess, manage: UserManage }
const isPart = (part: string): part is keyof typeof parts => Object.hasOwn(parts, part)

/** One user and their parts. */
export function UserPage({ params: { id = '', part = '' } }: { params: PageParams }) {
  const { t } = useTranslation('admin')
  const query = useQuery({
    ...adminQuery<Item<User> & Pick<User, 'meta'>>(`/users/${id}`, { include: 'role' }),
    select: ({ attributes, meta }): User => ({ ...attributes, ...(meta ? { meta } : {}) }),
  })
  const Part = parts[isPart(part) ? part : '']
  const hidden = [
    ...(can('servers', 'read') ? [] : ['servers']),
    ...(can('users', 'write') ? [] : ['manage']),
  ]
  const tabs = Object.keys(parts)
    .filter((name) => !hidden.includes(name))
    .map((name) => [name, t(`users.part_${name || 'account'}`)] as const)
  return (
    <AdminPage
      title={query.data?.username ?? `#${id}`}
      crumbs={[{ to: 'users', text: t('nav.users') }]}
      text={
        query.data && (
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <UserRole user={query.data} />
            <PrivateText text={query.data.email} />
          </span>
        )
      }
      actions={query.data && <ActivityLink search={{ actor_id: query.data.id }} />}
      tabs={
        <PartTabs
          label={t('users.parts')}
          base={`users/${id}`}
          part={isPart(part) ? part : ''}
          parts={tabs}
        />
      }
    >
      <Loaded query={query}>{(user) => <Part user={user} />}</Loaded>
    </AdminPage>
  )
}
