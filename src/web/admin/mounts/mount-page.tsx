import { useQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { Card } from '../../components/card.tsx'
import { Loaded } from '../../components/states.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, linkStyle, useAdminNavigate } from '../admin-link.tsx'
import { AdminPage } from '../admin-page.tsx'
import { currentOf } from '../form/current-version.ts'
import { ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import type { PageParams } from '../pages.ts'
import { type Item, type Mount, relatedRows } from '../resources.ts'
import { MountFields, MountPaths, mountBody, mountValues } from './mount-fields.tsx'

const include = 'eggs,nodes,servers'

/** One mount: what it is, the eggs and nodes that allow it, and the servers that have it. */
export function MountPage({ params: { id = '' } }: { params: PageParams }) {
  const { t } = useTranslation('admin')
  const path = `/mounts/${id}`
  const query = useQuery({
    ...adminQuery<Item<Mount>>(path, { include }),
    select: ({ attributes }) => attributes,
  })
  return (
    <AdminPage
      title={query.data?.name ?? `#${id}`}
      text={query.data && <MountPaths mount={query.data} />}
      crumbs={[{ to: 'mounts', text: t('nav.mounts') }]}
      actions={query.data && can('mounts', 'write') && <DeleteMount mount={query.data} />}
    >
      <Loaded query={query}>
        {(mount) => (
          <div className="grid items-start gap-4 xl:grid-cols-2">
            <Card>
              <ResourceForm
                initial={mountValues(mount)}
                fetchCurrent={currentOf(path, mountValues, { include: 'eggs,nodes' })}
                subject={{ type: 'mount', id: mount.id }}
                save={(values, version) => adminSend('PATCH', path, mountBody(values), version)}
                isReadOnly={!can('mounts', 'write')}
              >
                <MountFields />
              </ResourceForm>
            </Card>
            {can('servers', 'read') && <MountServers mount={mount} />}
          </div>
        )}
      </Loaded>
    </AdminPage>
  )
}

function MountServers({ mount }: { mount: Mount }) {
  const { t } = useTranslation('admin')
  const servers = relatedRows(mount.relationships?.servers)
  return (
    <Card title={t('mounts.servers')} text={t('mounts.servers_text')}>
      {servers.length === 0 ? (
        <p className="text-sm text-muted">{t('mounts.no_servers')}</p>
      ) : (
        <ul className="flex flex-col gap-2 text-sm">
          {servers.map(({ id, name, identifier }) => (
            <li key={id} className="flex flex-wrap items-center justify-between gap-x-3">
              <AdminLink to={`servers/${id}/mounts`} className={linkStyle}>
                {name}
              </AdminLink>
              <code className="text-xs text-muted">{identifier}</code>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function DeleteMount({ mount }: { mount: Mount }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  return (
    <AdminAction
      icon={Trash2}
      variant="danger"
      label={t('mounts.delete')}
      run={() => adminSend('DELETE', `/mounts/${mount.id}`)}
      done={t('mounts.deleted')}
      onDone={() => navigate('mounts')}
      confirm={{
        title: t('confirm.delete', { name: mount.name }),
        text: t('mounts.delete_text'),
        typed: mount.name,
      }}
    />
  )
}
