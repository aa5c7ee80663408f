import { sql } from 'drizzle-orm'
import * as z from 'zod'
import type { DataColumn } from '../../db/data-column.ts'
import { valuesColumn } from '../../db/embed.ts'
import { jsonColumn } from '../../db/json.ts'
import { notificationMail, users } from '../../db/schema.ts'
import type { NotificationKind } from '../../db/tables/notifications.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { requireCaller } from '../auth/caller.ts'
import { boolean } from '../fields.ts'
import { settingsColumn } from '../settings/settings.ts'
import { kindNames, kinds } from './kinds.ts'

/** Why no mail leaves the panel, whatever the user chose; null when it does. */
export const mailObstacles = ['no_mail_service', 'switched_off'] as const
type MailObstacle = (typeof mailObstacles)[number]

/** Whether the caller gets mails about a kind of notification. */
export type MailChoice = { kind: NotificationKind; isOn: boolean; obstacle: MailObstacle | null }

/** The choices to change, by kind. Spec: docs/notifications.md#mails. */
export const MailChoicesInput = () => z.object({ mail: z.partialRecord(z.enum(kindNames), boolean()) })
type MailChoicesInput = z.output<ReturnType<typeof MailChoicesInput>>

type StoredChoices = {
  chosen: Partial<Record<NotificationKind, boolean>>
  settings: { 'notifications.install': boolean }
}

/** Selects the choices of the caller (`users`), and the settings that overrule them. */
export const mailChoicesColumn = (): DataColumn<StoredChoices> => ({
  name: 'notification_mail',
  column: () =>
    valuesColumn({
      chosen: jsonColumn<StoredChoices['chosen']>(
        sql`(select coalesce(json_object_agg(kind, is_on), '{}'::json) from ${notificationMail}
          where ${notificationMail.userId} = ${users.id})`,
      ),
      settings: settingsColumn(['notifications.install']),
    }),
  values: {},
})

/** Lists every kind with the choice of the caller, or its default. Spec: docs/notifications.md#mails. */
export const toMailChoices = (
  { config }: Pick<Panel, 'config'>,
  { chosen, settings }: StoredChoices,
): MailChoice[] =>
  kindNames.map((kind) => ({
    kind,
    isOn: chosen[kind] ?? kinds[kind].isMailedByDefault,
    obstacle: !config.sendsMail
      ? 'no_mail_service'
      : kind.startsWith('install.') && !settings['notifications.install']
        ? 'switched_off'
        : null,
  }))

/**
 * Changes about which kinds the caller gets mails. Records `user:account.notifications-updated` with those that
 * changed; nothing when none did.
 */
export async function changeMailChoices(panel: Panel, { mail }: MailChoicesInput): Promise<void> {
  const { id: userId } = requireCaller(panel)
  const rows = kindNames.flatMap((kind) => {
    const isOn = mail[kind]
    return isOn === undefined ? [] : [{ userId, kind, isOn }]
  })
  if (rows.length === 0) return
  await inTransaction(panel, async (tx) => {
    const changed = await tx.db
      .insert(notificationMail)
      .values(rows)
      .onConflictDoUpdate({
        target: [notificationMail.userId, notificationMail.kind],
        set: { isOn: sql`excluded.is_on` },
        setWhere: sql`${notificationMail.isOn} <> excluded.is_on`,
      })
      .returning({ kind: notificationMail.kind })
    if (changed.length === 0) return
    const properties = { changed: changed.map(({ kind }) => kind) }
    await recordEvent(tx, 'user:account.notifications-updated', { userId, properties })
  })
}
