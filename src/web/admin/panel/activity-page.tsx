import { Download, History } from 'lucide-react'
import { useLoadedTexts, useTranslation } from '../../app/use-translation.ts'
import { EventText, eventLabel, eventTexts } from '../../activity/event-text.tsx'
import { buttonStyle } from '../../components/button.tsx'
import { PrivateText } from '../../components/private-text.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Skeleton } from '../../components/states.tsx'
import { adminGet } from '../../api/admin.ts'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { serverChoices, userChoices } from '../form/choice-sources.ts'
import type { ChoiceSource } from '../form/picker.tsx'
import { can } from '../levels.ts'
import { AdminList } from '../list/admin-list.tsx'
import { useListSearch } from '../list/list-search.ts'
import type { PanelActivity } from '../resources.ts'
import { EventActor, serverOf } from './activity-entry.tsx'

const periods = ['24h', '7d', '30d', '90d'] as const
const sources = ['web', 'api', 'sftp', 'system'] as const
const maxChoices = 50

const eventChoice = (event: string) => ({ id: event, text: eventLabel(event), hint: event })

/** The events that the log has, found by their text or their name. */
const eventChoices: ChoiceSource = {
  key: ['events'],
  find: async (text, signal) => {
    const { meta } = await adminGet<{ meta: { available_events: string[] } }>(
      '/activity',
      { per_page: 1 },
      signal,
    )
    const wanted = text.toLowerCase()
    return meta.available_events
      .map(eventChoice)
      .filter((choice) => `${choice.text} ${choice.hint}`.toLowerCase().includes(wanted))
      .slice(0, maxChoices)
  },
  show: async (event) => eventChoice(event),
}

/** The audit log of the panel. */
export function ActivityPage() {
  const { t } = useTranslation('admin')
  const areTextsThere = useLoadedTexts(...eventTexts)
  if (!areTextsThere) return <Skeleton rows={8} className="h-11" />
  return (
    <AdminList<PanelActivity>
      title={t('nav.activity')}
      icon={History}
      path="/activity"
      searchBy="filter[event]"
      searchLabel={t('activity.search')}
      filters={[
        { name: 'event_exact', label: t('feed:entry.event'), source: eventChoices },
        ...(can('users', 'read')
          ? [{ name: 'actor_id', label: t('activity.actor'), source: userChoices }]
          : []),
        ...(can('servers', 'read')
          ? [{ name: 'server_id', label: t('strings:word.server'), source: serverChoices }]
          : []),
        { name: 'ip', label: t('feed:filters.ip'), isAddress: true },
        { name: 'date', label: t('feed:filters.date'), isDate: true },
        {
          name: 'period',
          label: t('feed:filters.period'),
          choices: periods.map((period) => [period, t(`feed:period.${period}`)]),
        },
        {
          name: 'source',
          label: t('feed:filters.source'),
          choices: sources.map((source) => [source, t(`feed:source.${source}`)]),
        },
      ]}
      keyOf={({ id }) => id}
      empty={t('activity.empty')}
      actions={<Exports />}
      columns={[
        { name: 'event', label: t('feed:entry.event'), cell: (entry) => <EventText entry={entry} /> },
        {
          name: 'actor',
          label: t('activity.actor'),
          cell: (entry) => <EventActor entry={entry} />,
        },
        {
          name: 'server',
          label: t('strings:word.server'),
          cell: (entry) => {
            const id = serverOf(entry)
            return id === null ? (
              '–'
            ) : (
              <AdminLink to={`servers/${id}`} className={linkStyle}>
                #{id}
              </AdminLink>
            )
          },
        },
        { name: 'ip', label: t('feed:filters.ip'), cell: ({ ip }) => (ip ? <PrivateText text={ip} /> : '–') },
        {
          name: 'name',
          label: t('activity.name'),
          isOptional: true,
          cell: ({ event }) => <code className="text-xs">{event}</code>,
        },
        {
          name: 'properties',
          label: t('activity.properties'),
          isOptional: true,
          cell: ({ properties }) => <code className="text-xs">{JSON.stringify(properties)}</code>,
        },
        {
          name: 'time',
          label: t('strings:word.date'),
          cell: ({ timestamp }) => <RelativeTime at={timestamp} />,
        },
      ]}
    />
  )
}

/** Links to the whole log as a file, with the filters of the page. */
function Exports() {
  const { search } = useListSearch()
  const filters = Object.entries({ ...search.filters, event: search.text })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => [`filter[${name}]`, value])
  return ['csv', 'ndjson'].map((format) => (
    <a
      key={format}
      href={`/api/application/activity?${new URLSearchParams([['format', format], ...filters])}`}
      download={`activity.${format}`}
      className={buttonStyle()}
    >
      <Download aria-hidden className="size-4" />
      {format.toUpperCase()}
    </a>
  ))
}
