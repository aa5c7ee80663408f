import { and, eq, or } from 'drizzle-orm'
import { isForeignKeyViolation } from '../../db/database.ts'
import { eggs, servers } from '../../db/schema.ts'
import { displayError, notFound } from '../../errors.ts'
import type { Panel, Tx } from '../../panel.ts'
import { recordAdminEvent } from '../activity/record.ts'
import { withNestLock } from './nests.ts'

/**
 * Removes an egg with its variables. Refuses with 400 an egg with servers or from which other eggs inherit, with
 * 404 an egg of another nest. Records `admin:egg.delete`. Spec: deleteApplicationNestsByNestEggsByEgg.
 */
export async function removeEgg(panel: Panel, nestId: number, id: number): Promise<void> {
  try {
    await withNestLock(panel, nestId, async (tx) => {
      await requireUnused(tx, nestId, id)
      const [removed] = await tx.db
        .delete(eggs)
        .where(and(eq(eggs.id, id), eq(eggs.nestId, nestId)))
        .returning({ name: eggs.name })
      if (!removed) throw notFound()
      await recordAdminEvent(tx, 'admin:egg.delete', { type: 'egg', id }, { name: removed.name })
    })
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw eggHasServers()
  }
}

const eggHasServers = () =>
  displayError('egg_in_use', 'An egg with servers cannot be deleted.', { code: 'HasActiveServersException' })

/**
 * Checks for servers first, so that the removal does not wait for rows in use; the foreign key decides in the
 * end.
 */
async function requireUnused(tx: Tx, nestId: number, id: number): Promise<void> {
  const inheritingEggs = tx.db
    .select({ id: eggs.id })
    .from(eggs)
    .where(and(eq(eggs.nestId, nestId), or(eq(eggs.configFrom, id), eq(eggs.copyScriptFrom, id))))
  const serversOfEgg = tx.db
    .select({ id: servers.id })
    .from(servers)
    .innerJoin(eggs, eq(eggs.id, servers.eggId))
    .where(and(eq(eggs.id, id), eq(eggs.nestId, nestId)))
  if ((await inheritingEggs.limit(1)).length > 0)
    throw displayError('egg_inherited', 'An egg from which other eggs inherit cannot be deleted.', {
      code: 'HasChildrenException',
    })
  if ((await serversOfEgg.limit(1)).length > 0) throw eggHasServers()
}
