import { eq, isNotNull, or, sql, type SQL } from 'drizzle-orm'
import { settings, users } from '../../db/schema.ts'
import type { Tx } from '../../panel.ts'
import { type SettingKey, settingDefinitions } from '../settings/definitions.ts'
import { getSettings } from '../settings/settings.ts'

const settingKey = 'sign_in.verify_email' satisfies SettingKey
type Choice = 'auto' | 'on' | 'off'

const isOn = (tx: Tx, choice: Choice) => (choice === 'auto' ? tx.config.sendsMail : choice === 'on')

/**
 * Tells whether addresses that users give themselves wait for a mailed link. One statement. Spec:
 * docs/accounts.md#verified-addresses.
 */
export async function isEmailVerificationOn(tx: Tx): Promise<boolean> {
  return isOn(tx, (await getSettings(tx, [settingKey]))[settingKey])
}

/**
 * Matches accounts that are found by their address: those that verified it, and all of them while verification
 * is off. Spec: docs/accounts.md#verified-addresses.
 */
export function hasUsableEmail(tx: Tx): SQL {
  const stored = sql`(select ${settings.value} #>> '{}' from ${settings} where ${eq(settings.key, settingKey)})`
  const offChoices = (['auto', 'on', 'off'] as const).filter((choice) => !isOn(tx, choice))
  const isOff = sql`coalesce(${stored}, ${settingDefinitions[settingKey].defaultValue}::text) in ${offChoices}`
  return sql`(${or(isNotNull(users.emailVerifiedAt), isOff)})`
}
