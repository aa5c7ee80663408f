import { eq } from 'drizzle-orm'
import { recoveryTokens } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import type { Panel } from '../../panel.ts'
import { hashWithSalt } from '../password-hash.ts'
import { randomText } from '../secrets.ts'

/** Spec: Other shapes, recovery tokens. */
const count = 10
const length = 10

/** Tokens as their owner is shown them, once, and the hashes by which they are found again. */
export type RecoveryTokenSet = { tokens: string[]; hashes: string[] }

/** Fresh tokens for an account, stored nowhere yet. */
export async function newRecoveryTokens(user: Pick<User, 'uuid'>): Promise<RecoveryTokenSet> {
  const tokens = Array.from({ length: count }, () => randomText(length))
  const hashes = await Promise.all(tokens.map((token) => recoveryTokenHash(user, token)))
  return { tokens, hashes }
}

/**
 * How a token of the account is stored: the same each time, so that using it is one DELETE by its hash. The
 * hash is a slow one, since 59 random bits alone could be searched through.
 */
export const recoveryTokenHash = (user: Pick<User, 'uuid'>, token: string): Promise<string> =>
  hashWithSalt(token, `recovery token of ${user.uuid}`)

/** These are the account's tokens, those before work no more. Call it in the transaction that wants them. */
export async function replaceRecoveryTokens(panel: Panel, userId: number, hashes: string[]): Promise<void> {
  await panel.db.delete(recoveryTokens).where(eq(recoveryTokens.userId, userId))
  if (hashes.length === 0) return
  await panel.db
    .insert(recoveryTokens)
    .values(hashes.map((tokenHash) => ({ userId, tokenHash, createdAt: panel.now() })))
}
