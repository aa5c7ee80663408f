import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus, SquareTerminal } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { buttonStyle } from '../../components/button.tsx'
import { Loaded } from '../../components/states.tsx'
import { AdminLink } from '../admin-link.tsx'
import { AdminPage, PartTabs } from '../admin-page.tsx'
import { can } from '../levels.ts'
import { ActivityLink } from '../panel/activity-link.tsx'
import type { PageParams } from '../pages.ts'
import type { Server } from '../resources.ts'
import { ServerBuild } from './server-build.tsx'
import { ServerDatabases } from './server-databases.tsx'
import { ServerDetails } from './server-details.tsx'
import { ServerManage } from './server-manage.tsx'
import { ServerNotes } from './server-notes.tsx'
import { ServerMounts } from './server-mounts.tsx'
import { serverQuery } from './server-queries.ts'
import { ServerStartup } from './server-startup.tsx'
import { ServerStatus } from './server-status.tsx'
import { ServerUsage } from './server-usage.tsx'
import { ServerTransfer } from './server-transfer.tsx'

const parts = {
  '': ServerDetails,
  build: ServerBuild,
  startup: ServerStartup,
  databases: ServerDatabases,
  mounts: ServerMounts,
  usage: ServerUsage,
  notes: ServerNotes,
  transfer: ServerTransfer,
  manage: ServerManage,
}
const isPart = (part: string): part is keyof typeof parts => Object.hasOwn(parts, part)

/** One server and its parts. */
export function ServerPage({ params: { id = '', part = '' } }: { params: PageParams }) {
  const { t } = useTranslation('admin')
  const query = useQuery({ ...serverQuery(id), select: ({ attributes }) => attributes })
  const Part = parts[isPart(part) ? part : '']
  const hidden = [
    ...(can('server_databases', 'read') ? [] : ['databases']),
    ...(can('mounts', 'read') ? [] : ['mounts']),
    ...(can('servers', 'write') ? [] : ['transfer', 'manage']),
  ]
  const tabs = Object.keys(parts)
    .filter((name) => !hidden.includes(name))
    .map((name) => [name, t(`servers.part_${name || 'details'}`)] as const)
  return (
    <AdminPage
      title={query.data?.name ?? `#${id}`}
      crumbs={[{ to: 'servers', text: t('nav.servers') }]}
      text={query.data && <ServerSubtitle server={query.data} />}
      actions={
        query.data && (
          <>
            {can('servers', 'write') && (
              <AdminLink to="servers/new" search={{ server: query.data.id }} className={buttonStyle()}>
                <Plus aria-hidden className="size-4" />
                {t('servers.create_from')}
              </AdminLink>
            )}
            <ActivityLink search={{ server_id: query.data.id }} />
            <Link to="/server/$server" params={{ server: query.data.identifier }} className={buttonStyle()}>
              <SquareTerminal aria-hidden className="size-4" />
              {t('servers.open')}
            </Link>
          </>
        )
      }
      tabs={
        <PartTabs
          label={t('servers.parts')}
          base={`servers/${id}`}
          part={isPart(part) ? part : ''}
          parts={tabs}
        />
      }
    >
      <Loaded query={query}>{(server) => <Part server={server} />}</Loaded>
    </AdminPage>
  )
}

const ServerSubtitle = ({ server }: { server: Server }) => (
  <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
    <ServerStatus {...server} />
    <code className="text-xs">{server.identifier}</code>
    <span>{server.relationships?.egg?.attributes?.name}</span>
    <span>{server.relationships?.node?.attributes?.name}</span>
  </span>
)
