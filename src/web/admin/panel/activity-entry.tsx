import { useTranslation } from '../../app/use-translation.ts'
import { EventText } from '../../activity/event-text.tsx'
import { Badge } from '../../components/badge.tsx'
import { AdminLink, type AdminSearch, linkStyle } from '../admin-link.tsx'
import { can } from '../levels.ts'
import type { PanelActivity } from '../resources.ts'

/** Returns the server that an event is about; null for others. */
export const serverOf = ({ server_id: id, subjects }: PanelActivity): number | null =>
  id ?? idOf(subjects, 'server')

const idOf = (subjects: PanelActivity['subjects'], wanted: string): number | null =>
  subjects.find(({ type }) => type === wanted)?.id ?? null

/** Returns the page of what an event is about; the log of such events where there is none, or no more. */
function targetOf(entry: PanelActivity): { to: string; search: AdminSearch } {
  const { event, user_id: user, node_id: node, subjects } = entry
  const pages = [
    ['servers', can('servers', 'read') ? serverOf(entry) : null],
    ['nodes', can('nodes', 'read') ? (idOf(subjects, 'node') ?? node) : null],
    ['users', can('users', 'read') ? (idOf(subjects, 'user') ?? user) : null],
  ] as const
  const [page, id] = (event.endsWith('.delete') ? [] : pages).find(([, found]) => found !== null) ?? []
  return page === undefined
    ? { to: 'activity', search: { event_exact: event } }
    : { to: `${page}/${id}`, search: {} }
}

/** What happened, as a link to what it is about. */
export const EventLink = ({ entry }: { entry: PanelActivity }) => (
  <AdminLink {...targetOf(entry)} className="inline-block leading-6 underline-offset-2 hover:underline">
    <EventText entry={entry} />
  </AdminLink>
)

/** Who acted, for whom, and with which key. */
export function EventActor({ entry }: { entry: PanelActivity }) {
  const { t } = useTranslation('admin')
  const { actor, actor_id: id, acted_for: actedFor, acted_for_id: actedForId, api_key: key } = entry
  return (
    <span className="inline-flex flex-wrap items-center gap-x-1.5">
      {id === null ? t('activity.system') : <UserLink id={id} text={actor ?? `#${id}`} />}
      {actedForId !== null && (
        <UserLink id={actedForId} text={t('activity.acted_for', { name: actedFor ?? `#${actedForId}` })} />
      )}
      {key && <Badge>{key}</Badge>}
    </span>
  )
}

const UserLink = ({ id, text }: { id: number; text: string }) =>
  can('users', 'read') ? (
    <AdminLink to={`users/${id}`} className={`inline-block leading-6 ${linkStyle}`}>
      {text}
    </AdminLink>
  ) : (
    text
  )
