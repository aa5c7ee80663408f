import { Plus, Users } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { Badge } from '../../components/badge.tsx'
import { buttonStyle } from '../../components/button.tsx'
import { PrivateText } from '../../components/private-text.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { AdminLink } from '../admin-link.tsx'
import { can } from '../levels.ts'
import { AdminList } from '../list/admin-list.tsx'
import type { User } from '../resources.ts'

/** The users of the panel. */
export function UsersPage() {
  const { t } = useTranslation('admin')
  return (
    <AdminList<User>
      title={t('nav.users')}
      icon={Users}
      path="/users"
      query={{ sort: '-id', include: 'role' }}
      searchBy="search"
      searchLabel={t('users.search')}
      keyOf={({ id }) => id}
      linkTo={({ id }) => `users/${id}`}
      empty={t('users.empty')}
      actions={
        can('users', 'write') && (
          <AdminLink to="users/new" className={buttonStyle('primary')}>
            <Plus aria-hidden className="size-4" />
            {t('users.create')}
          </AdminLink>
        )
      }
      columns={[
        { name: 'username', label: t('strings:word.username'), cell: ({ username }) => username },
        {
          name: 'name',
          label: t('strings:word.name'),
          cell: (user) => <PrivateText text={`${user.first_name} ${user.last_name}`} />,
        },
        { name: 'email', label: t('strings:word.email'), cell: ({ email }) => <PrivateText text={email} /> },
        { name: 'role', label: t('users.role'), cell: (user) => <UserRole user={user} /> },
        {
          name: 'two_factor',
          label: t('users.two_factor'),
          cell: (user) => t(user['2fa'] ? 'strings:word.yes' : 'strings:word.no'),
        },
        {
          name: 'external_id',
          label: t('field.external_id'),
          isOptional: true,
          cell: ({ external_id: externalId }) => externalId ?? '–',
        },
        {
          name: 'created',
          label: t('word.created'),
          sort: 'id',
          cell: ({ created_at: at }) => <RelativeTime at={at} />,
        },
      ]}
    />
  )
}

/** What a user is in the panel. */
export function UserRole({ user }: { user: User }) {
  const { t } = useTranslation('admin')
  const role = user.relationships?.role?.attributes
  const suspended = user.meta?.sign_in_suspended_at && <Badge tone="warn">{t('status.suspended')}</Badge>
  if (user.root_admin || role)
    return (
      <>
        <Badge tone={user.root_admin ? 'brand' : 'info'}>{role?.name ?? t('users.administrator')}</Badge>{' '}
        {suspended}
      </>
    )
  return suspended || <span className="text-muted">{t('users.user')}</span>
}
