import { and, eq, isNotNull, isNull, lt, or } from 'drizzle-orm'
import * as z from 'zod'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { badRequest } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { decrypt, encrypt, type SecretLocation } from '../secrets.ts'
import { settingsColumn } from '../settings/settings.ts'
import { lockCaller, requireCaller } from './caller.ts'
import { currentPasswordField, requireCurrentPassword } from './current-password.ts'
import { generateRecoveryTokens, replaceRecoveryTokens } from './recovery-tokens.ts'
import { endSessions } from './sessions.ts'
import { findTotpStep, generateTotpSecret, totpUri } from './totp.ts'

/** Spec: docs/accounts.md#two-factor-authentication. */
export const TwoFactorInput = () =>
  z.object({ code: z.string().length(6, 'size'), password: currentPasswordField() })
type TwoFactorInput = z.output<ReturnType<typeof TwoFactorInput>>

/** Input of operations that need only the password. */
export const TwoFactorPassword = () => z.object({ password: currentPasswordField() })

/** The secret for an authenticator, by itself and as the URI of a QR code. */
export type TwoFactorSetup = { uri: string; secret: string }

const alreadyEnabled = () => badRequest('two_factor_enabled', 'Two-factor authentication is already enabled.')
const wrongTwoFactorPassword = () => badRequest('current_password_wrong', 'The current password is wrong.')
const totpSecretLocation = (user: Pick<User, 'uuid'>): SecretLocation => ({
  table: 'users',
  column: 'totp_secret',
  row: user.uuid,
})

/**
 * Creates a secret that waits for its first code, replacing an earlier one. Refuses with 400 when
 * two-factor authentication is on. One statement. Spec: docs/accounts.md#two-factor-authentication.
 */
export async function setUpTwoFactor(panel: Panel): Promise<TwoFactorSetup> {
  const user = requireCaller(panel)
  const secret = generateTotpSecret()
  const totpSecret = await encrypt(panel, secret, totpSecretLocation(user))
  const updated = await panel.db
    .update(users)
    .set({ totpSecret, totpLastStep: null })
    .where(and(eq(users.id, user.id), isNull(users.totpEnabledAt)))
    .returning({ settings: settingsColumn(['panel.name']) })
  const [found] = updated
  if (!found) throw alreadyEnabled()
  return { uri: totpUri(secret, user.email, found.settings['panel.name'] ?? panel.config.name), secret }
}

/**
 * Enables two-factor authentication, ends the account's other sessions and returns new recovery tokens.
 * Refuses with 400 when it is on already or has no secret, a wrong password and a wrong code. Records
 * `user:two-factor.create`.
 */
export async function enableTwoFactor(panel: Panel, { code, password }: TwoFactorInput): Promise<string[]> {
  const user = requireCaller(panel)
  if (user.totpEnabledAt) throw alreadyEnabled()
  if (user.totpSecret === null)
    throw badRequest(
      'two_factor_without_secret',
      'Two-factor authentication has no secret yet. Request one first.',
    )
  await requireCurrentPassword(panel, user, password, wrongTwoFactorPassword)
  const { tokens, hashes } = await generateRecoveryTokens(user)
  await inTransaction(panel, async (tx) => {
    const isValidCode = await consumeTotpCode(tx, user, code)
    if (!isValidCode)
      throw badRequest('code_wrong', 'The code is wrong or has been used already.', {
        code: 'TwoFactorAuthenticationTokenInvalid',
      })
    const enabled = await tx.db
      .update(users)
      .set({ totpEnabledAt: tx.now() })
      .where(and(eq(users.id, user.id), isNull(users.totpEnabledAt)))
      .returning({ id: users.id })
    if (enabled.length === 0) throw alreadyEnabled()
    await endSessions(tx, user.id)
    await replaceRecoveryTokens(tx, user.id, hashes)
    await recordEvent(tx, 'user:two-factor.create', { userId: user.id })
  })
  return tokens
}

/**
 * Tells whether the code is valid for the account and newer than the last one used, and marks it as used:
 * of parallel requests with one code exactly one succeeds. One statement.
 */
export async function consumeTotpCode(
  tx: Tx,
  user: Pick<User, 'id' | 'uuid' | 'totpSecret'>,
  code: string,
): Promise<boolean> {
  if (user.totpSecret === null) return false
  const secret = await decrypt(tx, user.totpSecret, totpSecretLocation(user))
  const step = await findTotpStep(secret, code, tx.now())
  if (step === null) return false
  const consumed = await tx.db
    .update(users)
    .set({ totpLastStep: step })
    .where(
      and(
        eq(users.id, user.id),
        // The secret may have been replaced meanwhile.
        eq(users.totpSecret, user.totpSecret),
        or(isNull(users.totpLastStep), lt(users.totpLastStep, step)),
      ),
    )
    .returning({ id: users.id })
  return consumed.length > 0
}

/**
 * Disables two-factor authentication and deletes its secret and recovery tokens. Does nothing when it is
 * off. Refuses with 400 a wrong password. Records `user:two-factor.delete`.
 */
export async function disableTwoFactor(panel: Panel, password: string): Promise<void> {
  const user = requireCaller(panel)
  await requireCurrentPassword(panel, user, password, wrongTwoFactorPassword)
  await inTransaction(panel, async (tx) => {
    const disabled = await tx.db
      .update(users)
      .set({ totpSecret: null, totpEnabledAt: null, totpLastStep: null, updatedAt: tx.now() })
      .where(and(eq(users.id, user.id), isNotNull(users.totpEnabledAt)))
      .returning({ id: users.id })
    if (disabled.length === 0) return
    await replaceRecoveryTokens(tx, user.id, [])
    await recordEvent(tx, 'user:two-factor.delete', { userId: user.id })
  })
}

/**
 * Replaces the recovery tokens and returns the new ones. Refuses with 400 when two-factor authentication is
 * off, and a wrong password. Records `user:two-factor.regenerate-tokens`.
 */
export async function regenerateRecoveryTokens(panel: Panel, password: string): Promise<string[]> {
  const user = requireCaller(panel)
  await requireCurrentPassword(panel, user, password, wrongTwoFactorPassword)
  const { tokens, hashes } = await generateRecoveryTokens(user)
  await inTransaction(panel, async (tx) => {
    const { totpEnabledAt } = await lockCaller(tx)
    if (totpEnabledAt === null)
      throw badRequest('two_factor_not_enabled', 'Two-factor authentication is not enabled.')
    await replaceRecoveryTokens(tx, user.id, hashes)
    await recordEvent(tx, 'user:two-factor.regenerate-tokens', { userId: user.id })
  })
  return tokens
}
