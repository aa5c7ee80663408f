import * as z from 'zod'
import { kindNames } from '../../../domain/notifications/kinds.ts'
import { type MailChoice, mailObstacles } from '../../../domain/notifications/mail-choices.ts'
import type { NotificationPage, ShownNotification } from '../../../domain/notifications/notifications.ts'
import {
  paginationOf,
  PaginationShape,
  resource,
  timestamp,
  Timestamp,
  timestampOrNull,
} from '../../../http/resource.ts'

/** A notification of the caller; `count` is how often it happened since they read it last. */
export const NotificationResource = resource(
  'notification',
  () =>
    z.object({
      id: z.int(),
      kind: z.enum(kindNames),
      count: z.int(),
      server: z.object({ identifier: z.string(), name: z.string() }),
      properties: z.record(z.string(), z.unknown()),
      created_at: Timestamp(),
      read_at: Timestamp().nullable(),
    }),
  (row: ShownNotification) => ({
    id: row.id,
    kind: row.kind,
    count: row.count,
    server: { identifier: row.server?.uuidShort ?? '', name: row.server?.name ?? '' },
    properties: row.properties,
    created_at: timestamp(row.createdAt),
    read_at: timestampOrNull(row.readAt),
  }),
)

/** A page of notifications; `unread_count` is over all pages. */
export const NotificationList = () =>
  z.object({
    object: z.literal('list'),
    data: z.array(NotificationResource.One()),
    meta: z.object({ unread_count: z.int(), pagination: PaginationShape() }),
  })

export const presentNotifications = (page: NotificationPage, url: string) => ({
  ...NotificationResource.list(page.rows),
  meta: { unread_count: page.unreadCount, pagination: paginationOf(page, url) },
})

/** Whether the caller gets mails about a kind; `obstacle` says why none leaves the panel in any case. */
export const NotificationMailResource = resource(
  'notification_mail',
  () =>
    z.object({
      kind: z.enum(kindNames),
      is_on: z.boolean(),
      obstacle: z.enum(mailObstacles).nullable(),
    }),
  (choice: MailChoice) => ({ kind: choice.kind, is_on: choice.isOn, obstacle: choice.obstacle }),
)
