import { Pencil, Plus, ShieldCheck, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { formatNumber } from '../../app/formats.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { AdminAction } from '../admin-action.tsx'
import { LevelGrid, levelsOf, levelValues } from '../form/level-grid.tsx'
import { currentOf } from '../form/current-version.ts'
import { FormDialog } from '../form/form-dialog.tsx'
import { TextInput, ToggleInput } from '../form/fields.tsx'
import { type FormValues, ResourceForm } from '../form/resource-form.tsx'
import { can, resources } from '../levels.ts'
import { AdminList } from '../list/admin-list.tsx'
import type { Role } from '../resources.ts'

/** The roles of administrators who are not root. */
export function RolesPage() {
  const { t } = useTranslation('admin')
  const [edited, setEdited] = useState<Role | 'new' | null>(null)
  const isWriter = can('administrators', 'write')
  return (
    <>
      <AdminList<Role>
        title={t('nav.roles')}
        text={t('roles.text')}
        icon={ShieldCheck}
        path="/roles"
        query={{ include: 'users' }}
        searchBy="filter[name]"
        keyOf={({ id }) => id}
        empty={t('roles.empty')}
        actions={
          isWriter && (
            <Button variant="primary" icon={Plus} onClick={() => setEdited('new')}>
              {t('roles.create')}
            </Button>
          )
        }
        columns={[
          { name: 'name', label: t('field.name'), sort: 'name', cell: ({ name }) => name },
          {
            name: 'description',
            label: t('field.description'),
            cell: ({ description }) => description || '–',
          },
          {
            name: 'levels',
            label: t('keys.levels'),
            cell: ({ acl }) => (
              <span className="text-xs">
                {resources
                  .filter((name) => (acl[name] ?? 0) > 0)
                  .map((name) => `${t(`level.${name}`)} (${t(`level.is_${acl[name]}`)})`)
                  .join(', ') || t('keys.none')}
              </span>
            ),
          },
          {
            name: 'two_factor',
            label: t('users.two_factor'),
            cell: (role) => t(role.two_factor_required ? 'roles.required' : 'roles.optional'),
          },
          {
            name: 'users',
            label: t('nav.users'),
            isNumber: true,
            cell: ({ relationships }) => formatNumber(relationships?.users?.data?.length ?? 0),
          },
        ]}
        {...(isWriter
          ? { rowActions: (role: Role) => <Actions role={role} onEdit={() => setEdited(role)} /> }
          : {})}
      />
      {edited && <RoleDialog role={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
    </>
  )
}

function Actions({ role, onEdit }: { role: Role; onEdit: () => void }) {
  const { t } = useTranslation('admin')
  return (
    <span className="flex">
      <IconButton icon={Pencil} label={t('list.edit', { name: role.name })} onClick={onEdit} />
      <AdminAction
        icon={Trash2}
        isCompact
        label={t('list.delete', { name: role.name })}
        run={() => adminSend('DELETE', `/roles/${role.id}`)}
        confirm={{ title: t('confirm.delete', { name: role.name }), text: t('roles.delete_text') }}
      />
    </span>
  )
}

const valuesOf = (role: Role | null): FormValues => ({
  name: role?.name ?? '',
  description: role?.description ?? '',
  two_factor_required: role?.two_factor_required ?? false,
  ...levelValues(role?.acl ?? {}),
})

function RoleDialog({ role, onClose }: { role: Role | null; onClose: () => void }) {
  const { t } = useTranslation('admin')
  const path = role ? `/roles/${role.id}` : '/roles'
  return (
    <FormDialog title={role ? t('list.edit', { name: role.name }) : t('roles.create')} onClose={onClose}>
      <ResourceForm
        initial={valuesOf(role)}
        fetchCurrent={role ? currentOf(path, valuesOf) : undefined}
        subject={role ? { type: 'role', id: role.id } : undefined}
        save={({ name, description, two_factor_required: isRequired, ...values }, version) =>
          adminSend(
            role ? 'PATCH' : 'POST',
            path,
            {
              name,
              description: description || null,
              two_factor_required: isRequired,
              acl: levelsOf(values),
            },
            version,
          )
        }
        onSaved={onClose}
      >
        <TextInput name="name" isRequired />
        <TextInput name="description" />
        <ToggleInput name="two_factor_required" />
        <LevelGrid />
      </ResourceForm>
    </FormDialog>
  )
}
