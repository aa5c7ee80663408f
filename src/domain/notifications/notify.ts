import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { rowsOf } from '../../db/database.ts'
import { jobs, notificationMail, notifications, servers, subusers, users } from '../../db/schema.ts'
import type { NotificationKind } from '../../db/tables/notifications.ts'
import type { Tx } from '../../panel.ts'
import { type JobName, jobLifetimeSeconds } from '../jobs/enqueue.ts'
import { kinds } from './kinds.ts'

/** Users who are notified of one event: the owner, and the first of the subusers. Spec: docs/limits.md#sizes. */
const maxRecipients = 100

/** What a notification says beside its kind. */
export type NotificationDetails = {
  serverId: number
  /** What of the server it is about; empty for the server. */
  subject?: string
  properties?: Record<string, unknown>
}

/**
 * Notifies the owner of a server and those of its subusers who have the permission of the kind, in one statement; each
 * is mailed by a job unless they have switched that off, or have not read the last one yet. Call it in the transaction
 * of the event, which holds the row of the server: it cannot go meanwhile. Spec: docs/notifications.md#kinds.
 */
export async function notifyUsers(
  tx: Tx,
  kind: NotificationKind,
  details: NotificationDetails,
): Promise<void> {
  const { permission } = kinds[kind]
  const isGranted = permission ? sql`${subusers.permissions} @> array[${permission}::text]` : sql`true`
  await insertFor(
    tx,
    kind,
    details,
    sql`select ${servers.ownerId} from ${servers} where ${servers.id} = ${details.serverId}
      union select ${subusers.userId} from ${subusers}
      where ${subusers.serverId} = ${details.serverId} and not ${subusers.pending} and ${isGranted}`,
  )
}

/** Does the same for one user, who need not have access yet. */
export const notifyUser = (
  tx: Tx,
  kind: NotificationKind,
  userId: number,
  details: NotificationDetails,
): Promise<void> => insertFor(tx, kind, details, sql`${userId}::int`)

/** Deletes what has not been read of a kind, for an event that was undone; mails that wait are not sent then. */
export async function withdrawNotifications(tx: Tx, kind: NotificationKind, serverId: number): Promise<void> {
  const ofServer = and(eq(notifications.serverId, serverId), eq(notifications.kind, kind))
  await tx.db.delete(notifications).where(and(ofServer, isNull(notifications.readAt)))
}

async function insertFor(
  tx: Tx,
  kind: NotificationKind,
  { serverId, subject = '', properties = {} }: NotificationDetails,
  userIds: SQL,
): Promise<void> {
  const now = sql`${tx.now().toISOString()}::timestamptz`
  // Accounts are locked in the order of their ids: one that is deleted meanwhile is left out.
  const result = await tx.db.execute(sql`
    with recipients as materialized (
      select ${users.id} from ${users} where ${users.id} in (${userIds})
      order by ${users.id} limit ${maxRecipients} for key share
    ), added as (
      insert into ${notifications} (user_id, server_id, kind, permission, subject, properties, created_at)
      select id, ${serverId}::int, ${kind}::text, ${kinds[kind].permission}::text, ${subject}::text,
        ${JSON.stringify(properties)}::jsonb, ${now} from recipients
      on conflict (user_id, server_id, kind, subject) where read_at is null do update
        set count = ${notifications}.count + 1, properties = excluded.properties, created_at = excluded.created_at
      returning id, user_id, count
    )${mailsOf(tx, kind, now)}`)
  const enqueued = rowsOf<{ id: string }>(result)
  if (enqueued.length > 0) tx.wake(enqueued.map(({ id }) => ({ id, runAt: tx.now() })))
}

/**
 * Enqueues the mails about the notifications that were `added`, as far as they do not repeat an unread one; none where
 * no mail leaves the panel.
 */
function mailsOf({ config }: Tx, kind: NotificationKind, now: SQL): SQL {
  const { template, isMailedByDefault } = kinds[kind]
  if (template === null || !config.sendsMail) return sql` select id from added where false`
  return sql` insert into ${jobs} (name, payload, run_at, deadline_at)
    select ${'send-mail' satisfies JobName}::text, jsonb_build_object('template', 'notification', 'notificationId', added.id),
      ${now}, ${now} + ${jobLifetimeSeconds} * interval '1 second'
    from added left join ${notificationMail} choice on choice.user_id = added.user_id and choice.kind = ${kind}::text
    where added.count = 1 and coalesce(choice.is_on, ${isMailedByDefault}::boolean)
    returning id`
}
