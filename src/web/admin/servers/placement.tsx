import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { adminGet, adminListQuery, type AdminQuery } from '../../api/admin.ts'
import { rowsOf } from '../../api/resources.ts'
import { formatMebibytes } from '../../app/formats.ts'
import { useDebouncedValue } from '../../app/use-debounced-value.ts'
import { Badge } from '../../components/badge.tsx'
import { nodeChoices } from '../form/choice-sources.ts'
import { wide } from '../form/fields.tsx'
import type { ChoiceSource } from '../form/picker.tsx'
import { type FormValues, useForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import type { NodePlacement, PageOf, Server } from '../resources.ts'

const shownNodes = 10
const delayMs = 400
const maxAllocations = 500

const wholeNumber = (value: unknown) => (/^\d{1,9}$/.test(String(value)) ? Number(value) : 0)

/** Returns what the API needs to say where the server of a form fits. */
function queryOf(values: FormValues): AdminQuery {
  const ports = String(values['deploy.port_range'])
    .split(/[\s,]+/)
    .filter((part) => /^\d{1,5}(-\d{1,5})?$/.test(part))
  return {
    memory: wholeNumber(values['limits.memory']),
    disk: wholeNumber(values['limits.disk']),
    'location_ids[0]': String(values['deploy.locations']) || undefined,
    dedicated_ip: values['deploy.dedicated_ip'] === true ? 1 : undefined,
    ...Object.fromEntries(ports.map((part, at) => [`port_range[${at}]`, part])),
    per_page: shownNodes,
  }
}

/** Shows the nodes that take the server of the form, and why the others do not. */
export function PlacementList() {
  const { t } = useTranslation('admin')
  const { values } = useForm()
  const query = useDebouncedValue(JSON.stringify(queryOf(values)), delayMs)
  const { data } = useQuery({
    ...adminListQuery<PageOf<NodePlacement>>('/nodes/placement', JSON.parse(query) as AdminQuery),
    enabled: can('nodes', 'read'),
  })
  if (!data) return null
  const nodes = rowsOf(data)
  const hasRoom = nodes.some(({ fits }) => fits)
  const others = data.meta.pagination.total - nodes.length
  return (
    <div className={wide}>
      <p aria-live="polite" className={hasRoom ? 'text-sm font-medium' : 'text-sm font-medium text-bad'}>
        {t(hasRoom ? 'servers.placement_fits' : 'servers.placement_none')}
      </p>
      <ul
        aria-label={t('nav.nodes')}
        className="mt-2 divide-y divide-line rounded-control border border-line"
      >
        {nodes.map((node) => (
          <PlacementRow key={node.node_id} node={node} />
        ))}
        {others > 0 && <li className="px-3 py-2 text-sm text-muted">{t('bulk.more', { count: others })}</li>}
      </ul>
    </div>
  )
}

function PlacementRow({ node: { name, fits, reasons, free } }: { node: NodePlacement }) {
  const { t } = useTranslation('admin')
  const amount = (mebibytes: number | null) => (mebibytes === null ? '∞' : formatMebibytes(mebibytes))
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-sm">
      <span className="font-medium wrap-anywhere">{name}</span>
      <span className="grow text-muted">
        {t('servers.placement_free', { memory: amount(free.memory), disk: amount(free.disk) })}
      </span>
      {fits ? (
        <Badge tone="good">{t('servers.placement_room')}</Badge>
      ) : (
        reasons.map((reason) => (
          <Badge key={reason} tone="warn">
            {t(`servers.placement_${reason}`)}
          </Badge>
        ))
      )}
    </li>
  )
}

/** What says nothing about a transfer, which an administrator may also make to such a node. */
const ofNewServers = ['location', 'private', 'maintenance']

/** Nodes with room for all of these servers and their allocations, other than those where they are. */
export function transferTargets(servers: readonly Server[]): ChoiceSource {
  const sum = (amountOf: (server: Server) => number) =>
    servers.reduce((total, server) => total + amountOf(server), 0)
  const needed = {
    memory: sum(({ limits }) => limits.memory),
    disk: sum(({ limits }) => limits.disk),
    allocations: Math.min(
      maxAllocations,
      sum(({ relationships }) => relationships?.allocations?.data?.length ?? 1),
    ),
  }
  const here = servers.every(({ node }) => node === servers[0]?.node) ? servers[0]?.node : undefined
  return {
    key: ['placement', needed.memory, needed.disk, needed.allocations, here],
    find: async (search, signal) => {
      const query = { ...needed, search }
      const page = await adminGet<PageOf<NodePlacement>>('/nodes/placement', query, signal)
      return rowsOf(page)
        .filter(
          ({ node_id: id, reasons }) =>
            id !== here && reasons.every((reason) => ofNewServers.includes(reason)),
        )
        .map(({ node_id: id, name, free }) => ({
          id: String(id),
          text: name,
          ...(free.memory === null ? {} : { hint: formatMebibytes(free.memory) }),
        }))
    },
    show: nodeChoices.show,
  }
}
