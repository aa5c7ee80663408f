import { useQuery } from '@tanstack/react-query'
import { CircleCheck, Server as ServerIcon, TriangleAlert } from 'lucide-react'
import { useLoadedTexts, useTranslation } from '../../app/use-translation.ts'
import { eventTexts } from '../../activity/event-text.tsx'
import { adminQuery } from '../../api/admin.ts'
import { rowsOf } from '../../api/resources.ts'
import { formatMebibytes, formatNumber } from '../../app/formats.ts'
import { Card } from '../../components/card.tsx'
import { Meter } from '../../components/meter.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Loaded } from '../../components/states.tsx'
import { AdminLink, type AdminSearch, linkStyle } from '../admin-link.tsx'
import { AdminPage } from '../admin-page.tsx'
import { can } from '../levels.ts'
import { EventActor, EventLink } from './activity-entry.tsx'
import { SetupChecklist } from './setup-checklist.tsx'
import type { Item, List, LocationCapacity, Overview, PageOf, PanelActivity } from '../resources.ts'

const refetchIntervalMs = 30_000
const shownEvents = 10

/** What needs attention, how much room there is, and what happened last. */
export function OverviewPage() {
  const { t } = useTranslation('admin')
  return (
    <AdminPage title={t('nav.overview')}>
      <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-4">
          {can('settings', 'read') && <SetupChecklist />}
          {can('nodes', 'read') && <Attention />}
          {can('locations', 'read') && <Capacity />}
        </div>
        {can('activity', 'read') && <NewestEvents />}
      </div>
    </AdminPage>
  )
}

type Concern = Overview['attention'][number]

/** Returns where a concern, or one of the resources that it names, is looked at. */
function pathOf({ id: concern, object }: Concern, id?: string | number): string {
  if (concern === 'mail_missing') return 'settings'
  if (object === 'node') return id === undefined ? 'nodes' : `nodes/${id}`
  if (object === 'server') return id === undefined ? 'servers' : `servers/${id}`
  return object === 'job' ? 'jobs' : 'activity'
}

function Attention() {
  const { t } = useTranslation('admin')
  const query = useQuery({
    ...adminQuery<Item<Overview>>('/overview'),
    select: ({ attributes }) => attributes.attention,
    refetchInterval: refetchIntervalMs,
  })
  return (
    <Card title={t('overview.attention')}>
      <Loaded query={query}>
        {(concerns) =>
          concerns.length === 0 ? (
            <p className="flex items-center gap-2 text-sm">
              <CircleCheck aria-hidden className="size-5 text-good" />
              {t('overview.all_well')}
            </p>
          ) : (
            <ul className="flex flex-col gap-3">
              {concerns.map((concern) => (
                <ConcernRow key={concern.id} concern={concern} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  )
}

function ConcernRow({ concern }: { concern: Concern }) {
  const { t } = useTranslation('admin')
  const search: AdminSearch = concern.id === 'jobs_dead' ? { state: 'dead' } : {}
  return (
    <li className="flex items-start gap-3 text-sm">
      <TriangleAlert
        aria-hidden
        className={`mt-0.5 size-5 shrink-0 ${concern.severity === 'critical' ? 'text-bad' : 'text-warn'}`}
      />
      <div className="min-w-0">
        <p>
          <AdminLink to={pathOf(concern)} search={search} className={linkStyle}>
            {t(`overview.${concern.id}`)}
          </AdminLink>{' '}
          <strong className="tabular-nums">{concern.count > 1 && formatNumber(concern.count)}</strong>
        </p>
        <p className="flex flex-wrap gap-x-3 text-muted">
          {concern.items.map(({ id, name, detail }) => (
            <AdminLink
              key={id}
              to={pathOf(concern, concern.object === 'job' ? undefined : id)}
              search={search}
              className="inline-block min-w-6 leading-6 hover:underline"
            >
              {name}
              {detail && concern.id.startsWith('certificates_') && (
                <>
                  {' · '}
                  <RelativeTime at={detail} />
                </>
              )}
            </AdminLink>
          ))}
        </p>
      </div>
    </li>
  )
}

function Capacity() {
  const { t } = useTranslation('admin')
  const query = useQuery({
    ...adminQuery<List<LocationCapacity>>('/locations/capacity'),
    select: rowsOf,
    refetchInterval: refetchIntervalMs,
  })
  return (
    <Card title={t('overview.capacity')} text={t('overview.capacity_text')}>
      <Loaded query={query}>
        {(locations) =>
          locations.length === 0 ? (
            <p className="text-sm text-muted">{t('locations.empty')}</p>
          ) : (
            <ul className="flex flex-col gap-5">
              {locations.map((location) => (
                <LocationRow key={location.location_id} location={location} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  )
}

function LocationRow({ location }: { location: LocationCapacity }) {
  const { t } = useTranslation('admin')
  const { location_id: id, nodes, servers, allocations } = location
  const sizeText = ({ promised, limit }: LocationCapacity['memory']) =>
    `${formatMebibytes(promised)} / ${limit === null ? '∞' : formatMebibytes(limit)}`
  return (
    <li>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1 pb-2 text-sm">
        <span className="min-w-0">
          <span className="font-medium">{location.short}</span>{' '}
          <span className="text-muted">{location.long}</span>
        </span>
        <span className="flex items-center gap-3">
          <AdminLink to="nodes" search={{ location_id: id }} className={linkStyle}>
            <ServerIcon aria-hidden className="me-1 inline size-3.5" />
            {t('overview.nodes_up', { up: formatNumber(nodes.up), total: formatNumber(nodes.total) })}
          </AdminLink>
          <AdminLink to="servers" search={{ location_id: id }} className={linkStyle}>
            {t('overview.servers_running', {
              running: formatNumber(servers.running),
              total: formatNumber(servers.total),
            })}
          </AdminLink>
        </span>
      </div>
      <div className="grid gap-3 sm:grid-cols-3">
        <Meter
          label={t('strings:resource.memory')}
          value={location.memory.promised}
          limit={location.memory.limit}
          text={sizeText(location.memory)}
        />
        <Meter
          label={t('strings:resource.disk')}
          value={location.disk.promised}
          limit={location.disk.limit}
          text={sizeText(location.disk)}
        />
        <Meter
          label={t('nodes.part_allocations')}
          value={allocations.used}
          limit={allocations.total}
          text={`${formatNumber(allocations.used)} / ${formatNumber(allocations.total)}`}
        />
      </div>
    </li>
  )
}

function NewestEvents() {
  const { t } = useTranslation('admin')
  const areTextsThere = useLoadedTexts(...eventTexts)
  const query = useQuery({
    ...adminQuery<PageOf<PanelActivity>>('/activity', { per_page: shownEvents }),
    select: rowsOf,
    refetchInterval: refetchIntervalMs,
    enabled: areTextsThere,
  })
  return (
    <Card
      title={t('overview.newest')}
      actions={
        <AdminLink to="activity" className={`${linkStyle} text-sm`}>
          {t('overview.all')}
        </AdminLink>
      }
    >
      <Loaded query={query}>
        {(entries) => (
          <ul className="flex flex-col gap-3 text-sm">
            {entries.map((entry) => (
              <li key={entry.id} className="min-w-0">
                <EventLink entry={entry} />
                <p className="text-xs text-muted">
                  <EventActor entry={entry} /> · <RelativeTime at={entry.timestamp} />
                </p>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  )
}
