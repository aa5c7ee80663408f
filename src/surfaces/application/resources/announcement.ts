import * as z from 'zod'
import type { Announcement } from '../../../db/tables/announcements.ts'
import { Relationships, resource, timestamp, Timestamp, timestampOrNull } from '../../../http/resource.ts'

/** Spec: docs/announcements.md#announcements. */
export const AnnouncementResource = resource(
  'announcement',
  () =>
    z.object({
      id: z.int(),
      title: z.string(),
      body: z.string(),
      level: z.enum(['info', 'warning', 'maintenance']),
      audience: z.enum(['everyone', 'servers']),
      starts_at: Timestamp(),
      ends_at: Timestamp().nullable(),
      author_id: z.int().nullable(),
      created_at: Timestamp(),
      updated_at: Timestamp(),
      relationships: Relationships(),
    }),
  (row: Announcement) => ({
    id: row.id,
    title: row.title,
    body: row.body,
    level: row.level,
    audience: row.audience,
    starts_at: timestamp(row.startsAt),
    ends_at: timestampOrNull(row.endsAt),
    author_id: row.authorId,
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
  }),
)
