import * as z from 'zod'
import type { ShownAnnouncement } from '../../../domain/announcements/shown.ts'
import { resource, timestamp, Timestamp, timestampOrNull } from '../../../http/resource.ts'

/** An announcement as users see it. Spec: docs/announcements.md#what-users-see. */
export const ShownAnnouncementResource = resource(
  'announcement',
  () =>
    z.object({
      id: z.int(),
      title: z.string(),
      body: z.string(),
      level: z.enum(['info', 'warning', 'maintenance']),
      nodes: z.array(z.string()).nullable(),
      starts_at: Timestamp(),
      ends_at: Timestamp().nullable(),
    }),
  (row: ShownAnnouncement) => ({
    id: row.id,
    title: row.title,
    body: row.body,
    level: row.level,
    nodes: row.nodes,
    starts_at: timestamp(row.startsAt),
    ends_at: timestampOrNull(row.endsAt),
  }),
)
