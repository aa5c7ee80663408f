import { and, asc, eq, inArray, like } from 'drizzle-orm'
import { recoveryTokens } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import type { Panel, Tx } from '../../panel.ts'
import { randomText } from '../secrets.ts'
import { hashWithSalt, matchesBcrypt } from './password-hash.ts'

/** Spec: docs/accounts.md#two-factor-authentication. */
const tokenCount = 10
const tokenLength = 10
/** Tokens from another panel that one sign-in is compared with: each takes a slow hash. */
export const maxMovedTokens = 20

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

/**
 * Returns the stored hashes that the token can have: its own, and of the account's bcrypt hashes from another panel the
 * one that matches, of at most 20. Slow: call it before the transaction, within `withPasswordCheck`.
 */
export async function findRecoveryHashes(
  panel: Panel,
  user: Pick<User, 'id' | 'uuid'>,
  token: string,
): Promise<string[]> {
  const moved = await panel.db
    .select({ hash: recoveryTokens.tokenHash })
    .from(recoveryTokens)
    .where(and(eq(recoveryTokens.userId, user.id), like(recoveryTokens.tokenHash, '$2%')))
    .orderBy(asc(recoveryTokens.id))
    .limit(maxMovedTokens)
  const own = await hashRecoveryToken(user, token)
  for (const { hash } of moved) if (await matchesBcrypt(token, hash)) return [own, hash]
  return [own]
}

/** Deletes the token with one of the hashes. Returns false when it was used already: of parallel uses one succeeds. */
export async function consumeRecoveryToken(tx: Tx, userId: number, hashes: string[]): Promise<boolean> {
  const consumed = await tx.db
    .delete(recoveryTokens)
    .where(and(eq(recoveryTokens.userId, userId), inArray(recoveryTokens.tokenHash, hashes)))
    .returning({ id: recoveryTokens.id })
  return consumed.length > 0
}
