import { and, eq, isNotNull, isNull, lt, or } from 'drizzle-orm'
import * as z from 'zod'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { badRequest } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { open, seal, type SecretPlace } from '../secrets.ts'
import { newTotpSecret, totpStep, totpUri } from '../totp.ts'
import { callersAccount, lockCallersAccount } from './caller.ts'
import { currentPassword, requirePassword } from './current-password.ts'
import { newRecoveryTokens, replaceRecoveryTokens } from './recovery-tokens.ts'
import { endSessions } from './sessions.ts'

/** Spec: Client API, account: two-factor. */
export const TwoFactorInput = () =>
  z.object({ code: z.string().length(6, 'size'), password: currentPassword() })
type TwoFactorInput = z.output<ReturnType<typeof TwoFactorInput>>

/** The same for what needs the password alone. */
export const TwoFactorPassword = () => z.object({ password: currentPassword() })

/** What an authenticator is told, as a URI for a QR code and by itself. */
export type TwoFactorSetup = { uri: string; secret: string }

const alreadyOn = () => badRequest('Two-factor authentication is already on.')
const wrongPassword = () => badRequest('The password is not the right one.')
const secretPlace = (user: Pick<User, 'uuid'>): SecretPlace => ({
  table: 'users',
  column: 'totp_secret',
  row: user.uuid,
})

/**
 * A fresh secret waits for its first code; the one before it is forgotten. Refuses with 400 when two-factor
 * authentication is on. One statement. Spec: Client API, account: two-factor.
 */
export async function setUpTwoFactor(panel: Panel): Promise<TwoFactorSetup> {
  const user = callersAccount(panel)
  const secret = newTotpSecret()
  const totpSecret = await seal(panel, secret, secretPlace(user))
  const waiting = await panel.db
    .update(users)
    .set({ totpSecret, totpLastStep: null })
    .where(and(eq(users.id, user.id), isNull(users.totpEnabledAt)))
    .returning({ id: users.id })
  if (waiting.length === 0) throw alreadyOn()
  return { uri: totpUri(secret, user.email, panel.config.name), secret }
}

/**
 * Two-factor authentication is on, and the account's sessions have ended; gives its recovery tokens. Refuses
 * with 400 when it is on already, without a secret, and a wrong password or code. Records
 * `user:two-factor.create`.
 */
export async function enableTwoFactor(panel: Panel, { code, password }: TwoFactorInput): Promise<string[]> {
  const user = callersAccount(panel)
  if (user.totpEnabledAt) throw alreadyOn()
  if (user.totpSecret === null) throw badRequest('There is no secret yet: ask for one first.')
  await requirePassword(panel, user, password, wrongPassword)
  const { tokens, hashes } = await newRecoveryTokens(user)
  await inTransaction(panel, async (panel) => {
    const isRight = await spendTotpCode(panel, user, code)
    if (!isRight) throw badRequest('The code is not valid.', 'TwoFactorAuthenticationTokenInvalid')
    const enabled = await panel.db
      .update(users)
      .set({ totpEnabledAt: panel.now() })
      .where(and(eq(users.id, user.id), isNull(users.totpEnabledAt)))
      .returning({ id: users.id })
    if (enabled.length === 0) throw alreadyOn()
    await endSessions(panel, user.id)
    await replaceRecoveryTokens(panel, user.id, hashes)
    await record(panel, 'user:two-factor.create', { userId: user.id })
  })
  return tokens
}

/**
 * Whether the code is one of the account's authenticator and was not used before, nor any later one: of many
 * who come with it at once, one is right. Reading the secret apart, one statement.
 */
export async function spendTotpCode(
  panel: Panel,
  user: Pick<User, 'id' | 'uuid' | 'totpSecret'>,
  code: string,
): Promise<boolean> {
  if (user.totpSecret === null) return false
  const secret = await open(panel, user.totpSecret, secretPlace(user))
  const step = await totpStep(secret, code, panel.now())
  if (step === null) return false
  const spent = await panel.db
    .update(users)
    .set({ totpLastStep: step })
    .where(
      and(
        eq(users.id, user.id),
        // A secret that was replaced meanwhile has no codes.
        eq(users.totpSecret, user.totpSecret),
        or(isNull(users.totpLastStep), lt(users.totpLastStep, step)),
      ),
    )
    .returning({ id: users.id })
  return spent.length > 0
}

/**
 * Two-factor authentication is off, its secret and recovery tokens are gone; nothing happens when it was off.
 * Refuses with 400 a wrong password. Records `user:two-factor.delete`.
 */
export async function disableTwoFactor(panel: Panel, password: string): Promise<void> {
  const user = callersAccount(panel)
  await requirePassword(panel, user, password, wrongPassword)
  await inTransaction(panel, async (panel) => {
    const disabled = await panel.db
      .update(users)
      .set({ totpSecret: null, totpEnabledAt: null, totpLastStep: null, updatedAt: panel.now() })
      .where(and(eq(users.id, user.id), isNotNull(users.totpEnabledAt)))
      .returning({ id: users.id })
    if (disabled.length === 0) return
    await replaceRecoveryTokens(panel, user.id, [])
    await record(panel, 'user:two-factor.delete', { userId: user.id })
  })
}

/**
 * Gives new recovery tokens; those before work no more. Refuses with 400 when two-factor authentication is
 * off, and a wrong password. Records `user:two-factor.regenerate-tokens`.
 */
export async function regenerateRecoveryTokens(panel: Panel, password: string): Promise<string[]> {
  const user = callersAccount(panel)
  await requirePassword(panel, user, password, wrongPassword)
  const { tokens, hashes } = await newRecoveryTokens(user)
  await inTransaction(panel, async (panel) => {
    const { totpEnabledAt } = await lockCallersAccount(panel)
    if (totpEnabledAt === null) throw badRequest('Two-factor authentication is off.')
    await replaceRecoveryTokens(panel, user.id, hashes)
    await record(panel, 'user:two-factor.regenerate-tokens', { userId: user.id })
  })
  return tokens
}
