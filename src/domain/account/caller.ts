import { eq } from 'drizzle-orm'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { unauthenticated } from '../../errors.ts'
import type { Panel } from '../../panel.ts'

/** The account of the person who asks, as it was when his credential was read. Refuses others with 401. */
export function callersAccount({ actor }: Panel): User {
  if (actor.kind !== 'user') throw unauthenticated()
  return actor.user
}

/** The same as it is now, kept from changing until the transaction ends. Refuses with 401 when it is gone. */
export async function lockCallersAccount(panel: Panel): Promise<User> {
  const { id } = callersAccount(panel)
  const [user] = await panel.db.select().from(users).where(eq(users.id, id)).for('update')
  if (!user) throw unauthenticated()
  return user
}
