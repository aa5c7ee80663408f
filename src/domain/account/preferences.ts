import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { only } from '../../db/database.ts'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { boolean } from '../fields.ts'
import { languageChoices } from '../languages.ts'
import { callersAccount, lockCallersAccount } from './caller.ts'
import { requireFeature } from './features.ts'

/** Spec: Client API, account: privacy. */
export const PrivacyInput = () => z.object({ blur_sensitive_data: boolean() })
type PrivacyInput = z.output<ReturnType<typeof PrivacyInput>>

/** Spec: Client API, account: language. */
export const LanguageInput = () => z.object({ language: z.enum(languageChoices) })
type LanguageInput = z.output<ReturnType<typeof LanguageInput>>

/**
 * Whether the account's screens blur sensitive data. Refuses with 403 while privacy mode is switched off.
 * Records `user:account.privacy-updated` when it is different now. Spec: Client API, account: privacy.
 */
export async function changePrivacy(panel: Panel, input: PrivacyInput): Promise<User> {
  await requireFeature(panel, 'features.privacy_mode')
  const { blur_sensitive_data } = input
  return inTransaction(panel, async (panel) => {
    const user = await lockCallersAccount(panel)
    if (user.blurSensitiveData === blur_sensitive_data) return user
    const changed = { blurSensitiveData: blur_sensitive_data, updatedAt: panel.now() }
    const after = only(await panel.db.update(users).set(changed).where(eq(users.id, user.id)).returning())
    await record(panel, 'user:account.privacy-updated', {
      userId: user.id,
      properties: { blur_sensitive_data },
    })
    return after
  })
}

/** The account is spoken to in this language, or with `auto` in the browser's. */
export async function changeLanguage(panel: Panel, { language }: LanguageInput): Promise<void> {
  const { id } = callersAccount(panel)
  await panel.db.update(users).set({ language, updatedAt: panel.now() }).where(eq(users.id, id))
}
