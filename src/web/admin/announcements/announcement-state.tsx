import { useTranslation } from '../../app/use-translation.ts'
import { Badge } from '../../components/badge.tsx'
import { type Announcement, relatedRows } from '../resources.ts'

export const announcementStates = ['active', 'scheduled', 'ended'] as const
const tones = { active: 'good', scheduled: 'info', ended: 'plain' } as const

function stateOf({ starts_at: start, ends_at: end }: Announcement): (typeof announcementStates)[number] {
  if (end !== null && Date.parse(end) <= Date.now()) return 'ended'
  return Date.parse(start) > Date.now() ? 'scheduled' : 'active'
}

/** Whether users see the announcement now. */
export function AnnouncementState({ announcement }: { announcement: Announcement }) {
  const { t } = useTranslation('admin')
  const state = stateOf(announcement)
  return <Badge tone={tones[state]}>{t(`announcements.${state}`)}</Badge>
}

/** Who sees an announcement: everyone, or those with servers in the places that the caller may read. */
export function AnnouncementAudience({ announcement }: { announcement: Announcement }) {
  const { t } = useTranslation('admin')
  if (announcement.audience === 'everyone') return t('announcements.audience_everyone')
  const { locations, nodes } = announcement.relationships ?? {}
  const names = [
    ...relatedRows(locations).map(({ short }) => short),
    ...relatedRows(nodes).map(({ name }) => name),
  ]
  return names.join(', ') || t('announcements.audience_servers')
}
