import { eq, sql } from 'drizzle-orm'
import { notificationMail, users } from '../../db/schema.ts'
import type { NotificationKind } from '../../db/tables/notifications.ts'
import type { Permission } from '../permissions.ts'
import type { MailTemplate } from '../mail/texts.ts'

/** What is known of a kind. */
type KindDefinition = {
  /** What a subuser needs to be notified; null for any access. */
  permission: Permission | null
  /** Whether users who made no choice get mails about it. */
  isMailedByDefault: boolean
  /** The template of its mail; null where the subject of the event mails it itself. */
  template: MailTemplate | null
}

/** The kinds of notifications. Spec: docs/notifications.md#kinds. */
export const kinds = {
  'install.completed': { permission: null, isMailedByDefault: true, template: null },
  'install.failed': { permission: null, isMailedByDefault: true, template: null },
  'backup.completed': { permission: 'backup.read', isMailedByDefault: false, template: 'backup-completed' },
  'backup.failed': { permission: 'backup.read', isMailedByDefault: true, template: 'backup-failed' },
  'restore.completed': { permission: 'backup.read', isMailedByDefault: false, template: 'restore-completed' },
  'restore.failed': { permission: 'backup.read', isMailedByDefault: true, template: 'restore-failed' },
  'schedule.failed': { permission: 'schedule.read', isMailedByDefault: true, template: 'schedule-failed' },
  'server.invited': { permission: null, isMailedByDefault: true, template: null },
  'server.suspended': { permission: null, isMailedByDefault: false, template: 'server-suspended' },
  'server.unsuspended': { permission: null, isMailedByDefault: false, template: 'server-unsuspended' },
} as const satisfies Record<NotificationKind, KindDefinition>

/** The names of the kinds. */
export const kindNames = Object.keys(kinds) as [NotificationKind, ...NotificationKind[]]

/** Selects whether the statement's user (`users`) wants mails about a kind. */
export const wantsMail = (kind: NotificationKind) =>
  sql<boolean>`coalesce((select ${notificationMail.isOn} from ${notificationMail}
    where ${eq(notificationMail.userId, users.id)} and ${notificationMail.kind} = ${kind}), ${kinds[kind].isMailedByDefault}::boolean)`
