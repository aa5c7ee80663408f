import { eq } from 'drizzle-orm'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { unauthenticated } from '../../errors.ts'
import type { Tx } from '../../panel.ts'

/**
 * Returns the caller's account as it was when the credential was read. Refuses callers that are not users
 * with 401.
 */
export function requireCaller({ actor }: Tx): User {
  if (actor.kind !== 'user') throw unauthenticated()
  return actor.user
}

/**
 * Reads the caller's account again and locks its row until the transaction ends. Refuses with 401 when it
 * no longer exists, and when the holder of an address that was unverified took the account over since the
 * credential was read: the request must not add another credential.
 */
export async function lockCaller(tx: Tx): Promise<User> {
  const { id, emailVerifiedAt, authVersion } = requireCaller(tx)
  const [user] = await tx.db.select().from(users).where(eq(users.id, id)).for('update')
  const isTakenOver = emailVerifiedAt === null && user?.authVersion !== authVersion
  if (!user || isTakenOver) throw unauthenticated()
  return user
}
