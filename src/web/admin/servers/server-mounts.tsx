import { useQuery } from '@tanstack/react-query'
import { FolderSymlink } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { rowsOf } from '../../api/resources.ts'
import { Badge } from '../../components/badge.tsx'
import { buttonStyle } from '../../components/button.tsx'
import { RowList } from '../../components/card.tsx'
import { EmptyState, Loaded } from '../../components/states.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink } from '../admin-link.tsx'
import { can } from '../levels.ts'
import { MountPaths } from '../mounts/mount-fields.tsx'
import type { Mount, PageOf, Server } from '../resources.ts'

const maxMounts = 500
const mountsBy = (filter: Record<string, number>) =>
  adminQuery<PageOf<Mount>>('/mounts', {
    sort: 'name',
    per_page: maxMounts,
    ...Object.fromEntries(Object.entries(filter).map(([name, id]) => [`filter[${name}]`, id])),
  })

/** The mounts of a server, and those that its egg and its node allow. */
export function ServerMounts({ server }: { server: Server }) {
  const { t } = useTranslation('admin')
  const allowed = useQuery(mountsBy({ egg_id: server.egg, node_id: server.node }))
  const own = useQuery({ ...mountsBy({ server_id: server.id }), enabled: allowed.isSuccess })
  const isAllowed = ({ id }: Mount) => rowsOf(allowed.data ?? { data: [] }).some((mount) => mount.id === id)
  const isOwn = ({ id }: Mount) => rowsOf(own.data ?? { data: [] }).some((mount) => mount.id === id)
  return (
    <Loaded query={allowed.error ? allowed : own}>
      {() => {
        const rows = [
          ...rowsOf(own.data ?? { data: [] }),
          ...rowsOf(allowed.data ?? { data: [] }).filter((mount) => !isOwn(mount)),
        ]
        if (rows.length === 0)
          return (
            <EmptyState
              icon={FolderSymlink}
              title={t('mounts.none_allowed')}
              text={t('mounts.none_allowed_text')}
            >
              <AdminLink to="mounts" className={buttonStyle()}>
                {t('nav.mounts')}
              </AdminLink>
            </EmptyState>
          )
        return (
          <div className="flex flex-col gap-3">
            <p className="text-sm text-muted">{t('mounts.next_start')}</p>
            <RowList label={t('nav.mounts')}>
              {rows.map((mount) => (
                <MountRow
                  key={mount.id}
                  server={server}
                  mount={mount}
                  isAllowed={isAllowed(mount)}
                  isOwn={isOwn(mount)}
                />
              ))}
            </RowList>
          </div>
        )
      }}
    </Loaded>
  )
}

type MountRowProps = { server: Server; mount: Mount; isAllowed: boolean; isOwn: boolean }

function MountRow({ server, mount, isAllowed, isOwn }: MountRowProps) {
  const { t } = useTranslation('admin')
  const path = `/servers/${server.id}/mounts`
  return (
    <li className="flex flex-wrap items-center gap-3 px-4 py-3 text-sm">
      <FolderSymlink aria-hidden className="size-5 shrink-0 text-muted" />
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex flex-wrap items-center gap-2 font-medium wrap-anywhere">
          {mount.name}
          {isOwn && isAllowed && <Badge tone="good">{t('mounts.mounted')}</Badge>}
        </p>
        {isOwn && !isAllowed && <p className="text-xs text-warn">{t('mounts.without_effect')}</p>}
        <MountPaths mount={mount} />
      </div>
      {can('servers', 'write') &&
        (isOwn ? (
          <AdminAction
            label={t('mounts.unmount', { name: mount.name })}
            run={() => adminSend('DELETE', `${path}/${mount.id}`)}
            done={t('mounts.unmounted')}
          />
        ) : (
          <AdminAction
            label={t('mounts.mount', { name: mount.name })}
            variant="primary"
            run={() => adminSend('POST', path, { mount: mount.id })}
            done={t('mounts.mounted_toast')}
          />
        ))}
    </li>
  )
}
