import { Layers, Plus, Server as ServerIcon } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatMebibytes, formatPercent } from '../../app/formats.ts'
import { buttonStyle } from '../../components/button.tsx'
import { PrivateText } from '../../components/private-text.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { addressOfAllocation } from '../addresses.ts'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { eggChoices, locationChoices, nodeChoices, userChoices } from '../form/choice-sources.ts'
import { can } from '../levels.ts'
import { BulkMenu } from '../bulk/bulk-menu.tsx'
import { AdminList, type Column } from '../list/admin-list.tsx'
import type { Selection } from '../list/selection.ts'
import { relatedRows, type Allocation, type Server } from '../resources.ts'
import { ProcessState, processStates, ServerStatus, serverStatuses, stateText } from './server-status.tsx'

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
      query={{ include: 'user,node,egg,allocations,state', sort: '-id' }}
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
        {
          name: 'state',
          label: t('servers.state'),
          choices: processStates.map((state) => [state, t(stateText(state))]),
        },
        { name: 'image', label: t('field.image'), isText: true },
      ]}
      columns={useServerColumns()}
      keyOf={({ id }) => id}
      linkTo={({ id }) => `servers/${id}`}
      actions={<Actions />}
      views="servers"
      {...(can('servers', 'write')
        ? { chosenActions: ({ rows }: Selection<Server>) => <BulkMenu servers={rows} /> }
        : {})}
      empty={t('servers.empty')}
    />
  )
}

function Actions() {
  const { t } = useTranslation('admin')
  return (
    <span className="flex flex-wrap gap-2">
      <AdminLink to="bulk-operations" className={buttonStyle()}>
        <Layers aria-hidden className="size-4" />
        {t('bulk.title')}
      </AdminLink>
      {can('servers', 'write') && (
        <AdminLink to="servers/new" className={buttonStyle('primary')}>
          <Plus aria-hidden className="size-4" />
          {t('servers.create')}
        </AdminLink>
      )}
    </span>
  )
}

const none = <span className="text-muted">–</span>

/** Returns the columns of lists of servers. */
export function useServerColumns(): [Column<Server>, ...Column<Server>[]] {
  const { t } = useTranslation('admin')
  return [
    { name: 'name', label: t('strings:word.name'), sort: 'name', cell: ({ name }) => name },
    { name: 'status', label: t('strings:word.status'), cell: (server) => <ServerStatus {...server} /> },
    {
      name: 'state',
      label: t('servers.state'),
      sort: 'state',
      cell: ({ relationships }) => <ProcessState state={relationships?.state?.attributes?.state} />,
    },
    {
      name: 'owner',
      label: t('strings:word.owner'),
      sort: 'owner',
      cell: ({ user, relationships }) => (
        <AdminLink to={`users/${user}`} className={linkStyle}>
          {relationships?.user?.attributes?.username ?? `#${user}`}
        </AdminLink>
      ),
    },
    {
      name: 'node',
      label: t('strings:word.node'),
      sort: 'node',
      cell: ({ node, relationships }) => (
        <AdminLink to={`nodes/${node}`} className={linkStyle}>
          {relationships?.node?.attributes?.name ?? `#${node}`}
        </AdminLink>
      ),
    },
    {
      name: 'egg',
      label: t('word.egg'),
      sort: 'egg',
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
      sort: 'memory',
      isNumber: true,
      cell: ({ limits: { memory } }) => (memory === 0 ? '∞' : formatMebibytes(memory)),
    },
    ...useOptionalColumns(),
  ]
}

/** Returns the columns that show only when they are chosen. */
function useOptionalColumns(): Column<Server>[] {
  const { t } = useTranslation('admin')
  return [
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
