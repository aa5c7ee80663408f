import { and, eq } from 'drizzle-orm'
import { findRow } from '../../db/related-rows.ts'
import { eggs, eggVariables } from '../../db/schema.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import type { Nest } from '../../db/tables/nests.ts'
import { notFound } from '../../errors.ts'
import type { Panel, Tx } from '../../panel.ts'
import { findNest } from './nests.ts'

/** Lists all eggs of a nest with their included relations, by id. Refuses with 404 when the nest does not exist. */
export async function listEggs(panel: Panel, nestId: number, include: string[] = []): Promise<Egg[]> {
  const paths = ['eggs', ...include.map((path) => `eggs.${path}`)]
  const nest = (await findNest(panel, nestId, paths)) as Nest & { eggs: Egg[] }
  return nest.eggs
}

/** Finds an egg of the nest with its included relations. Refuses with 404, also an egg of another nest (AZ-2). */
export async function findEgg(
  panel: Panel,
  nestId: number,
  id: number,
  include: string[] = [],
): Promise<Egg> {
  const ofNest = and(eq(eggs.id, id), eq(eggs.nestId, nestId))
  const egg = await findRow<Egg>(panel.db, 'egg', ofNest, include)
  if (!egg) throw notFound()
  return egg
}

/** Lists the variables of an egg, by id. */
export const listEggVariables = (tx: Tx, { id }: Pick<Egg, 'id'>): Promise<EggVariable[]> =>
  tx.db.select().from(eggVariables).where(eq(eggVariables.eggId, id)).orderBy(eggVariables.id)
