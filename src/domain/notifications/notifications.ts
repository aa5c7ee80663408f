import { and, desc, eq, inArray, isNull, sql, type SQL } from 'drizzle-orm'
import * as z from 'zod'
import type { DataColumn } from '../../db/data-column.ts'
import { embedOne } from '../../db/embed.ts'
import { type FoundPage, type PageNumbers, preparedPage, type RowPage, toPage } from '../../db/pagination.ts'
import { notifications, servers, subusers, users } from '../../db/schema.ts'
import type { Notification } from '../../db/tables/notifications.ts'
import type { Tx } from '../../panel.ts'
import { requireCaller } from '../auth/caller.ts'
import { rowId } from '../fields.ts'

/** A notification with the server that it is about. */
export type ShownNotification = Notification & { server: { name: string; uuidShort: string } | null }

/** Ids of one request, as many as a page has. */
const maxIds = 100

/** The notifications to mark as read; all of them when left out. Spec: docs/notifications.md#reading-them. */
export const ReadInput = () => z.object({ ids: z.array(rowId()).max(maxIds, 'max').nullish() })
type ReadInput = z.output<ReturnType<typeof ReadInput>>

/**
 * Matches notifications of servers that the statement's user (`users`) has access to now, with the permission that the
 * notification needs: who has lost it sees none of the earlier ones.
 */
export const isVisible = (): SQL => sql`exists (select 1 from ${servers} concerned
  left join ${subusers} share on share.server_id = concerned.id and share.user_id = ${users.id} and not share.pending
  where concerned.id = ${notifications.serverId} and (concerned.owner_id = ${users.id} or (share.id is not null
    and (${notifications.permission} is null or ${notifications.permission} = any(share.permissions)))))`

const isForUser = () => and(eq(notifications.userId, users.id), isVisible())

/** Selects a page of the notifications of the caller (`users`), newest first, and how many are unread. */
export const notificationsColumn = (numbers: PageNumbers): DataColumn<FoundPage<ShownNotification>> =>
  preparedPage(
    {
      name: 'notifications',
      shape: () => ({
        table: notifications,
        where: isForUser(),
        orderBy: [desc(notifications.createdAt), desc(notifications.id)],
        fields: {
          server: embedOne(servers, {
            where: (server) => eq(server.id, notifications.serverId),
            columns: ['name', 'uuidShort'],
          }),
        },
        extraCount: sql<number>`(select count(*)::int from ${notifications} where ${and(isForUser(), isNull(notifications.readAt))})`,
      }),
      values: {},
    },
    numbers,
  )

/** A page of notifications; `unreadCount` is over all pages. */
export type NotificationPage = RowPage<ShownNotification> & { unreadCount: number }

/** Returns the page that `notificationsColumn` found. */
export const toNotificationPage = (
  found: FoundPage<ShownNotification>,
  numbers: PageNumbers,
): NotificationPage => ({ ...toPage(found, numbers), unreadCount: found.extraCount })

/** Marks notifications of the caller as read, once; those of others stay. Spec: docs/notifications.md#reading-them. */
export async function markAsRead(tx: Tx, { ids }: ReadInput): Promise<void> {
  const { id: userId } = requireCaller(tx)
  const isUnread = and(eq(notifications.userId, userId), isNull(notifications.readAt))
  await tx.db
    .update(notifications)
    .set({ readAt: tx.now() })
    .where(and(isUnread, ids ? inArray(notifications.id, ids) : undefined))
}
