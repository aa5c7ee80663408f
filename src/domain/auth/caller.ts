import { eq } from 'drizzle-orm'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { forbidden, unauthenticated } from '../../errors.ts'
import type { Tx } from '../../panel.ts'

/**
 * Returns the caller's account as it was when the credential was read. Refuses callers that are not users
 * with 401.
 */
export function requireCaller({ actor }: Tx): User {
  if (actor.kind !== 'user') throw unauthenticated()
  return actor.user
}

/** Returns the id of the caller's API key; null without one. */
export const callerKeyId = ({ actor }: Pick<Tx, 'actor'>): number | null =>
  actor.kind === 'user' ? (actor.apiKey?.id ?? null) : null

/** Refuses with 403 an administrator who acts for a user: they do not change how the user signs in. */
export function requireOwnAccount({ actor }: Pick<Tx, 'actor'>): void {
  if (actor.kind === 'user' && actor.administrator)
    throw forbidden('account_while_acting', 'Administrators who act for a user cannot change the account.')
}

/** Refuses with 403 a user whose sign-in is suspended. Call it once they have proven who they are. */
export function requireUnsuspended({ signInSuspendedAt }: User): void {
  if (signInSuspendedAt)
    throw forbidden('account_suspended', 'This account is suspended. Ask an administrator.')
}

/**
 * Reads the caller's account again and locks its row until the transaction ends. Refuses with 401 when it
 * no longer exists, and when the holder of an address that was unverified took the account over since the
 * credential was read: the request must not add another credential. Refuses with 403 an administrator who acts for the
 * user.
 */
export async function lockCaller(tx: Tx): Promise<User> {
  requireOwnAccount(tx)
  const { id, emailVerifiedAt, authVersion } = requireCaller(tx)
  const [user] = await tx.db.select().from(users).where(eq(users.id, id)).for('update')
  const isTakenOver = emailVerifiedAt === null && user?.authVersion !== authVersion
  if (!user || isTakenOver) throw unauthenticated()
  return user
}
