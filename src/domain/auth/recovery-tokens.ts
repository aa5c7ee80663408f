import { eq } from 'drizzle-orm'
import { recoveryTokens } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import type { Tx } from '../../panel.ts'
import { randomText } from '../secrets.ts'
import { hashWithSalt } from './password-hash.ts'

/** Spec: docs/accounts.md#two-factor-authentication. */
const tokenCount = 10
const tokenLength = 10

/** Recovery tokens in plain text, which are shown once, and the hashes to store. */
export type RecoveryTokenSet = { tokens: string[]; hashes: string[] }

/** Generates ten tokens for an account without storing them. */
export async function generateRecoveryTokens(user: Pick<User, 'uuid'>): Promise<RecoveryTokenSet> {
  const tokens = Array.from({ length: tokenCount }, () => randomText(tokenLength))
  const hashes = await Promise.all(tokens.map((token) => hashRecoveryToken(user, token)))
  return { tokens, hashes }
}

/**
 * Hashes a recovery token. The hash is deterministic, so that using a token is one DELETE, and slow,
 * because a token has only 59 random bits.
 */
export const hashRecoveryToken = (user: Pick<User, 'uuid'>, token: string): Promise<string> =>
  hashWithSalt(token, `recovery token of ${user.uuid}`)

/** Replaces the account's recovery tokens. Call it in the transaction of the change. */
export async function replaceRecoveryTokens(tx: Tx, userId: number, hashes: string[]): Promise<void> {
  await tx.db.delete(recoveryTokens).where(eq(recoveryTokens.userId, userId))
  if (hashes.length === 0) return
  await tx.db
    .insert(recoveryTokens)
    .values(hashes.map((tokenHash) => ({ userId, tokenHash, createdAt: tx.now() })))
}
