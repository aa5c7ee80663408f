import { and, eq } from 'drizzle-orm'
import { passwordResets } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import type { Panel, Tx } from '../../panel.ts'
import { digest, randomText } from '../secrets.ts'

/** Letters and digits: 256 bits. */
const tokenLength = 43

/** A link with which its holder sets a new password once, and the hash under which its token is stored. */
export type PasswordReset = { url: string; tokenHash: string }

/**
 * Creates a link that is valid for `lifetimeSeconds`; earlier links stay valid. Only the hash of its token
 * is stored. Spec: docs/accounts.md#forgotten-passwords.
 */
export async function createPasswordReset(
  panel: Panel,
  user: Pick<User, 'id' | 'email'>,
  lifetimeSeconds: number,
): Promise<PasswordReset> {
  const token = randomText(tokenLength)
  const tokenHash = digest(token)
  const createdAt = panel.now()
  const expiresAt = new Date(createdAt.getTime() + lifetimeSeconds * 1000)
  await panel.db
    .insert(passwordResets)
    .values({ userId: user.id, email: user.email, tokenHash, createdAt, expiresAt })
  const address = encodeURIComponent(user.email)
  return { url: `${panel.config.url}/auth/password/reset/${token}?email=${address}`, tokenHash }
}

/** Deletes a link whose mail was not sent. */
export async function deletePasswordReset(
  panel: Panel,
  user: Pick<User, 'id'>,
  { tokenHash }: PasswordReset,
): Promise<void> {
  await panel.db
    .delete(passwordResets)
    .where(and(eq(passwordResets.userId, user.id), eq(passwordResets.tokenHash, tokenHash)))
}

/** Deletes every reset link of the account. */
export async function cancelPasswordResets(tx: Tx, userId: number): Promise<void> {
  await tx.db.delete(passwordResets).where(eq(passwordResets.userId, userId))
}
