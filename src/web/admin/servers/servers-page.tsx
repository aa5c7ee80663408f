import { Plus, Server as ServerIcon } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { formatMebibytes, formatPercent } from '../../app/formats.ts'
import { buttonStyle } from '../../components/button.tsx'
import { PrivateText } from '../../components/private-text.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { addressOfAllocation } from '../addresses.ts'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { eggChoices, locationChoices, nodeChoices, userChoices } from '../form/choice-sources.ts'
import { can } from '../levels.ts'
import { AdminList, type Column } from '../list/admin-list.tsx'
import { relatedRows, type Allocation, type Server } from '../resources.ts'
import { ServerStatus, serverStatuses } from './server-status.tsx'

/** Returns the primary allocation of a server that was fetched with its allocations. */
export const primaryAllocation = ({ allocation, relationships }: Server): Allocation | undefined =>
  relatedRows(relationships?.allocations).find(({ id }) => id === allocation)

/** All servers of the panel. */
export function ServersPage() {
  const { t } = useTranslation('admin')
  return (
    <AdminList<Server>
      title={t('nav.servers')}
      icon={ServerIcon}
      path="/servers"
      query={{ include: 'user,node,egg,allocations', sort: '-id' }}
      searchBy="search"
      searchLabel={t('servers.search')}
      filters={[
        { name: 'node_id', label: t('strings:word.node'), source: nodeChoices },
        { name: 'location_id', label: t('word.location'), source: locationChoices },
        { name: 'egg_id', label: t('word.egg'), source: eggChoices },
        { name: 'user_id', label: t('strings:word.owner'), source: userChoices },
        {
          name: 'status',
          label: t('strings:word.status'),
          choices: serverStatuses.map((status) => [status, t(`status.${status}`)]),
        },
      ]}
      columns={useServerColumns()}
      keyOf={({ id }) => id}
      linkTo={({ id }) => `servers/${id}`}
      actions={can('servers', 'write') && <NewServerLink />}
      empty={t('servers.empty')}
    />
  )
}

function NewServerLink() {
  const { t } = useTranslation('admin')
  return (
    <AdminLink to="servers/new" className={buttonStyle('primary')}>
      <Plus aria-hidden className="size-4" />
      {t('servers.create')}
    </AdminLink>
  )
}

/** Returns the columns of lists of servers. */
export function useServerColumns(): [Column<Server>, ...Column<Server>[]] {
  const { t } = useTranslation('admin')
  const none = <span className="text-muted">–</span>
  return [
    { name: 'name', label: t('strings:word.name'), cell: ({ name }) => name },
    { name: 'status', label: t('strings:word.status'), cell: (server) => <ServerStatus {...server} /> },
    {
      name: 'owner',
      label: t('strings:word.owner'),
      cell: ({ user, relationships }) => (
        <AdminLink to={`users/${user}`} className={linkStyle}>
          {relationships?.user?.attributes?.username ?? `#${user}`}
        </AdminLink>
      ),
    },
    {
      name: 'node',
      label: t('strings:word.node'),
      cell: ({ node, relationships }) => (
        <AdminLink to={`nodes/${node}`} className={linkStyle}>
          {relationships?.node?.attributes?.name ?? `#${node}`}
        </AdminLink>
      ),
    },
    {
      name: 'egg',
      label: t('word.egg'),
      cell: ({ egg, relationships }) => relationships?.egg?.attributes?.name ?? `#${egg}`,
    },
    {
      name: 'address',
      label: t('strings:word.address'),
      cell: (server) => {
        const primary = primaryAllocation(server)
        return primary ? (
          <PrivateText text={addressOfAllocation(primary)} className="font-mono text-xs" />
        ) : (
          none
        )
      },
    },
    {
      name: 'memory',
      label: t('strings:resource.memory'),
      isNumber: true,
      cell: ({ limits: { memory } }) => (memory === 0 ? '∞' : formatMebibytes(memory)),
    },
    {
      name: 'disk',
      label: t('strings:resource.disk'),
      isNumber: true,
      isOptional: true,
      cell: ({ limits: { disk } }) => (disk === 0 ? '∞' : formatMebibytes(disk)),
    },
    {
      name: 'cpu',
      label: t('strings:resource.cpu'),
      isNumber: true,
      isOptional: true,
      cell: ({ limits: { cpu } }) => (cpu === 0 ? '∞' : formatPercent(cpu)),
    },
    {
      name: 'image',
      label: t('field.image'),
      isOptional: true,
      cell: ({ container }) => <code className="text-xs">{container.image}</code>,
    },
    {
      name: 'external_id',
      label: t('field.external_id'),
      isOptional: true,
      cell: ({ external_id: externalId }) => externalId ?? none,
    },
    {
      name: 'identifier',
      label: t('word.identifier'),
      isOptional: true,
      cell: ({ identifier }) => <code className="text-xs">{identifier}</code>,
    },
    {
      name: 'created',
      label: t('word.created'),
      sort: 'id',
      isOptional: true,
      cell: ({ created_at: at }) => <RelativeTime at={at} />,
    },
  ]
}
