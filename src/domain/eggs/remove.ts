import { and, eq, or } from 'drizzle-orm'
import { foreignKeyViolation } from '../../db/database.ts'
import { eggs, servers } from '../../db/schema.ts'
import { displayError, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { holdingNest } from '../nests.ts'

/**
 * Removes an egg with its variables. Refuses with 400 one that has servers or from which other eggs take,
 * with 404 one of another nest.
 */
export async function removeEgg(panel: Panel, nestId: number, id: number): Promise<void> {
  try {
    await holdingNest(panel, nestId, async (panel) => {
      await requireUnused(panel, nestId, id)
      const removed = await panel.db
        .delete(eggs)
        .where(and(eq(eggs.id, id), eq(eggs.nestId, nestId)))
        .returning({ id: eggs.id })
      if (removed.length === 0) throw notFound()
    })
  } catch (error) {
    if (!foreignKeyViolation(error)) throw error
    throw hasServers()
  }
}

const hasServers = () => displayError('An egg with servers cannot be removed.', 'HasActiveServersException')

/** Asked first, so that the removal waits for no server that is in use; the foreign key has the last word. */
async function requireUnused(panel: Panel, nestId: number, id: number): Promise<void> {
  const takers = panel.db
    .select({ id: eggs.id })
    .from(eggs)
    .where(and(eq(eggs.nestId, nestId), or(eq(eggs.configFrom, id), eq(eggs.copyScriptFrom, id))))
  const tenants = panel.db
    .select({ id: servers.id })
    .from(servers)
    .innerJoin(eggs, eq(eggs.id, servers.eggId))
    .where(and(eq(eggs.id, id), eq(eggs.nestId, nestId)))
  if ((await takers.limit(1)).length > 0)
    throw displayError('An egg from which others take cannot be removed.', 'HasChildrenException')
  if ((await tenants.limit(1)).length > 0) throw hasServers()
}
