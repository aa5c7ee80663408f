import type { ShownAnnouncement } from '../../../domain/announcements/shown.ts'
import { timestamp, timestampOrNull } from '../../../http/resource.ts'

/** Presents an announcement as the Client API does, for the page that begins with it. */
export const presentAnnouncement = ({ startsAt, endsAt, ...announcement }: ShownAnnouncement) => ({
  ...announcement,
  starts_at: timestamp(startsAt),
  ends_at: timestampOrNull(endsAt),
})
