import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { rowsOf } from '../../api/resources.ts'
import { site } from '../../app/site.ts'
import { useAdminNavigate } from '../admin-link.tsx'
import { AdminPage } from '../admin-page.tsx'
import { currentOf } from '../form/current-version.ts'
import { FormSection, SelectInput, TextInput } from '../form/fields.tsx'
import { type FormValues, ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import type { Item, PageOf, Role, User } from '../resources.ts'

/** Languages by their own names. */
export const languages = [
  ['auto', 'Auto'],
  ['en', 'English'],
  ['de', 'Deutsch'],
  ['es', 'Español'],
  ['fr', 'Français'],
  ['pl', 'Polski'],
  ['pt-BR', 'Português (Brasil)'],
  ['ru', 'Русский'],
  ['tr', 'Türkçe'],
  ['zh-CN', '简体中文'],
] as const

const valuesOf = (user: User | null): FormValues => ({
  username: user?.username ?? '',
  email: user?.email ?? '',
  first_name: user?.first_name ?? '',
  last_name: user?.last_name ?? '',
  language: user?.language ?? 'auto',
  external_id: user?.external_id ?? '',
  password: '',
  role: user?.root_admin ? 'root' : String(user?.relationships?.role?.attributes?.id ?? ''),
})

/** Returns what the API takes; only those who may make administrators say what role the user has. */
const bodyOf = ({ external_id: externalId, password, role, ...values }: FormValues) => ({
  ...values,
  external_id: externalId || null,
  ...(password ? { password } : {}),
  ...(can('administrators', 'write')
    ? { root_admin: role === 'root', role_id: role === 'root' || role === '' ? null : Number(role) }
    : {}),
})

/** Creates a user, who gets a mail with a link to choose a password unless one is given. */
export function NewUserPage() {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  return (
    <AdminPage title={t('users.create')} crumbs={[{ to: 'users', text: t('nav.users') }]}>
      <ResourceForm
        initial={valuesOf(null)}
        save={(values) => adminSend<Item<User>>('POST', '/users', bodyOf(values))}
        submit={t('users.create')}
        saved={t('users.created')}
        onSaved={({ attributes }) => navigate(`users/${attributes.id}`)}
      >
        <UserFields passwordHint={t('users.password_new')} />
      </ResourceForm>
    </AdminPage>
  )
}

/** Changes a user. */
export function UserForm({ user }: { user: User }) {
  const { t } = useTranslation('admin')
  return (
    <ResourceForm
      initial={valuesOf(user)}
      fetchCurrent={currentOf(`/users/${user.id}`, valuesOf, { include: 'role' })}
      subject={{ type: 'user', id: user.id }}
      isReadOnly={!can('users', 'write') || (user.root_admin && !can('administrators', 'write'))}
      save={(values, version) => adminSend('PATCH', `/users/${user.id}`, bodyOf(values), version)}
    >
      <UserFields passwordHint={t('users.password_keep')} />
    </ResourceForm>
  )
}

function UserFields({ passwordHint }: { passwordHint: string }) {
  const { t } = useTranslation('admin')
  return (
    <FormSection title={t('users.account')}>
      <TextInput name="username" label={t('strings:word.username')} isRequired />
      <TextInput name="email" label={t('strings:word.email')} type="email" isRequired />
      <TextInput name="first_name" isRequired />
      <TextInput name="last_name" isRequired />
      <SelectInput name="language" label={t('strings:word.language')} choices={languages} />
      <TextInput name="external_id" />
      <TextInput name="password" label={t('strings:word.password')} type="password" hint={passwordHint} />
      {can('administrators', 'write') && <RoleInput />}
    </FormSection>
  )
}

/** Chooses between a user, the roles and root. */
function RoleInput() {
  const { t } = useTranslation('admin')
  const { data = [] } = useQuery({
    ...adminQuery<PageOf<Role>>('/roles', { sort: 'name', per_page: 100 }),
    select: rowsOf,
  })
  return (
    <SelectInput
      name="role"
      label={t('users.role')}
      choices={[
        ['', t('users.user')],
        ...data.map(({ id, name }) => [String(id), name] as const),
        ...(site.user?.root_admin ? [['root', t('users.administrator')] as const] : []),
      ]}
    />
  )
}
