import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { lockCaller, requireCaller } from '../auth/caller.ts'
import { boolean } from '../fields.ts'
import { languageChoices } from '../languages.ts'
import { requireFeature } from '../settings/features.ts'

/** Spec: putClientAccountPrivacy. */
export const PrivacyInput = () => z.object({ blur_sensitive_data: boolean() })
type PrivacyInput = z.output<ReturnType<typeof PrivacyInput>>

/** Spec: putClientAccountLanguage. */
export const LanguageInput = () => z.object({ language: z.enum(languageChoices) })
type LanguageInput = z.output<ReturnType<typeof LanguageInput>>

/**
 * Sets whether the caller's screens blur sensitive data. Refuses with 403 while privacy mode is switched
 * off. Records `user:account.privacy-updated` when it changes. Spec: putClientAccountPrivacy.
 */
export async function changePrivacy(panel: Panel, input: PrivacyInput): Promise<User> {
  await requireFeature(panel, 'features.privacy_mode')
  const { blur_sensitive_data } = input
  return inTransaction(panel, async (tx) => {
    const user = await lockCaller(tx)
    if (user.blurSensitiveData === blur_sensitive_data) return user
    const changed = { blurSensitiveData: blur_sensitive_data, updatedAt: tx.now() }
    const after = single(await tx.db.update(users).set(changed).where(eq(users.id, user.id)).returning())
    await recordEvent(tx, 'user:account.privacy-updated', {
      userId: user.id,
      properties: { blur_sensitive_data },
    })
    return after
  })
}

/** Sets the caller's language; `auto` uses that of the browser. */
export async function changeLanguage(panel: Panel, { language }: LanguageInput): Promise<void> {
  const { id } = requireCaller(panel)
  await panel.db.update(users).set({ language, updatedAt: panel.now() }).where(eq(users.id, id))
}
