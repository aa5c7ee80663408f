import { and, eq } from 'drizzle-orm'
import { passwordResets } from '../db/schema.ts'
import type { User } from '../db/tables/users.ts'
import type { Panel } from '../panel.ts'
import { digest, randomText } from './secrets.ts'

/** Letters and digits of a token: 256 bits. */
const tokenLength = 43

/** A link by which its holder chooses the password of the account, once, and the hash under which it is stored. */
export type PasswordReset = { url: string; tokenHash: string }

/**
 * A new link that is good for `lifetimeSeconds`; those given out before stay good. Only the hash of its
 * token is stored. Spec: Browser authentication, password reset.
 */
export async function issuePasswordReset(
  panel: Panel,
  user: Pick<User, 'id' | 'email'>,
  lifetimeSeconds: number,
): Promise<PasswordReset> {
  const token = randomText(tokenLength)
  const tokenHash = digest(token)
  const createdAt = panel.now()
  const expiresAt = new Date(createdAt.getTime() + lifetimeSeconds * 1000)
  await panel.db.insert(passwordResets).values({ userId: user.id, tokenHash, createdAt, expiresAt })
  const address = encodeURIComponent(user.email)
  return { url: `${panel.config.url}/auth/password/reset/${token}?email=${address}`, tokenHash }
}

/** The link is good for nothing any more: it never reached anybody. */
export async function withdrawPasswordReset(
  panel: Panel,
  user: Pick<User, 'id'>,
  { tokenHash }: PasswordReset,
): Promise<void> {
  await panel.db
    .delete(passwordResets)
    .where(and(eq(passwordResets.userId, user.id), eq(passwordResets.tokenHash, tokenHash)))
}
