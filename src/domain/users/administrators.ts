import { eq } from 'drizzle-orm'
import { users } from '../../db/schema.ts'
import type { Tx } from '../../panel.ts'

/** Whether the panel has an administrator. One statement. */
export async function hasAdministrator(tx: Pick<Tx, 'db'>): Promise<boolean> {
  const found = await tx.db.select({ id: users.id }).from(users).where(eq(users.rootAdmin, true)).limit(1)
  return found.length > 0
}
