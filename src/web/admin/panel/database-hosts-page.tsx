import { Database, Pencil, Plug, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { AdminAction } from '../admin-action.tsx'
import { nodeChoices } from '../form/choice-sources.ts'
import { currentOf } from '../form/current-version.ts'
import { FormDialog } from '../form/form-dialog.tsx'
import { PickInput, TextInput, ToggleInput } from '../form/fields.tsx'
import { type FormValues, ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import { AdminList } from '../list/admin-list.tsx'
import type { DatabaseHost } from '../resources.ts'
import { numberOf } from '../servers/limit-fields.tsx'

/** The hosts on which the databases of servers are created. */
export function DatabaseHostsPage() {
  const { t } = useTranslation('admin')
  const [edited, setEdited] = useState<DatabaseHost | 'new' | null>(null)
  const isWriter = can('database_hosts', 'write')
  return (
    <>
      <AdminList<DatabaseHost>
        title={t('nav.database_hosts')}
        icon={Database}
        path="/database-hosts"
        searchBy="filter[name]"
        keyOf={({ id }) => id}
        empty={t('hosts.empty')}
        actions={
          isWriter && (
            <Button variant="primary" icon={Plus} onClick={() => setEdited('new')}>
              {t('hosts.create')}
            </Button>
          )
        }
        columns={[
          { name: 'name', label: t('field.name'), cell: ({ name }) => name },
          {
            name: 'address',
            label: t('strings:word.address'),
            cell: ({ host, port }) => <code className="private text-xs">{`${host}:${port}`}</code>,
          },
          { name: 'username', label: t('strings:word.username'), cell: ({ username }) => username },
          {
            name: 'node',
            label: t('strings:word.node'),
            cell: ({ node }) => (node === null ? t('hosts.every_node') : `#${node}`),
          },
          {
            name: 'max',
            label: t('field.max_databases'),
            isNumber: true,
            cell: ({ max_databases: max }) => max ?? '∞',
          },
        ]}
        {...(isWriter
          ? { rowActions: (host: DatabaseHost) => <Actions host={host} onEdit={() => setEdited(host)} /> }
          : {})}
      />
      {edited && <HostDialog host={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
    </>
  )
}

function Actions({ host, onEdit }: { host: DatabaseHost; onEdit: () => void }) {
  const { t } = useTranslation('admin')
  const path = `/database-hosts/${host.id}`
  return (
    <span className="flex">
      <AdminAction
        icon={Plug}
        isCompact
        label={t('hosts.test', { name: host.name })}
        run={() => adminSend('POST', `${path}/test`)}
        done={t('hosts.tested')}
      />
      <IconButton icon={Pencil} label={t('list.edit', { name: host.name })} onClick={onEdit} />
      <AdminAction
        icon={Trash2}
        isCompact
        label={t('list.delete', { name: host.name })}
        run={() => adminSend('DELETE', path)}
        confirm={{ title: t('confirm.delete', { name: host.name }), text: t('hosts.delete_text') }}
      />
    </span>
  )
}

const valuesOf = (host: DatabaseHost | null): FormValues => ({
  name: host?.name ?? '',
  host: host?.host ?? '',
  port: String(host?.port ?? 3306),
  username: host?.username ?? '',
  password: '',
  node_id: host?.node ? String(host.node) : '',
  max_databases: String(host?.max_databases ?? ''),
  skip_check: false,
})

function HostDialog({ host, onClose }: { host: DatabaseHost | null; onClose: () => void }) {
  const { t } = useTranslation('admin')
  const path = host ? `/database-hosts/${host.id}` : '/database-hosts'
  return (
    <FormDialog title={host ? t('list.edit', { name: host.name }) : t('hosts.create')} onClose={onClose}>
      <ResourceForm
        initial={valuesOf(host)}
        fetchCurrent={host ? currentOf(path, valuesOf) : undefined}
        subject={host ? { type: 'database_host', id: host.id } : undefined}
        save={({ port, node_id: node, max_databases: max, password, ...values }, version) =>
          adminSend(
            host ? 'PATCH' : 'POST',
            path,
            {
              ...values,
              ...(password ? { password } : {}),
              port: numberOf(port),
              node_id: numberOf(node),
              max_databases: numberOf(max),
            },
            version,
          )
        }
        onSaved={onClose}
      >
        <TextInput name="name" isRequired />
        <TextInput name="host" isRequired />
        <TextInput name="port" label={t('strings:word.port')} type="number" isRequired />
        <TextInput name="username" label={t('strings:word.username')} isRequired />
        <TextInput
          name="password"
          label={t('strings:word.password')}
          type="password"
          {...(host ? { hint: t('users.password_keep') } : {})}
        />
        <PickInput name="node_id" label={t('hosts.for_node')} source={nodeChoices} />
        <TextInput name="max_databases" type="number" />
        <ToggleInput name="skip_check" />
      </ResourceForm>
    </FormDialog>
  )
}
