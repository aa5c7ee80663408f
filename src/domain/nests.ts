import { and, eq } from 'drizzle-orm'
import { paginate, type RowPage } from '../db/pagination.ts'
import { fieldsOf, findRow } from '../db/relations.ts'
import { eggs, nests } from '../db/schema.ts'
import type { Egg } from '../db/tables/eggs.ts'
import type { Nest } from '../db/tables/nests.ts'
import { notFound } from '../errors.ts'
import type { Panel } from '../panel.ts'
import type { ListRequest } from './filters.ts'

/** One page of nests in the order of their ids. Spec: Application API, nests. */
export function listNests(panel: Panel, request: ListRequest, include: string[]): Promise<RowPage<Nest>> {
  return paginate(panel.db, { ...request, table: nests, fields: fieldsOf('nest', nests, include) })
}

/** The nest with its included relations. Refuses with 404 when there is none. */
export async function findNest(panel: Panel, id: number, include: string[] = []): Promise<Nest> {
  const nest = await findRow(panel.db, 'nest', nests, eq(nests.id, id), include)
  if (!nest) throw notFound()
  return nest
}

/** All eggs of a nest with their included relations, in the order of their ids. Refuses with 404 when there is no such nest. */
export async function listEggs(panel: Panel, nestId: number, include: string[] = []): Promise<Egg[]> {
  const paths = ['eggs', ...include.map((path) => `eggs.${path}`)]
  const nest = (await findNest(panel, nestId, paths)) as Nest & { eggs: Egg[] }
  return nest.eggs
}

/** The egg of the nest with its included relations. Refuses with 404 one of another nest. */
export async function findEgg(
  panel: Panel,
  nestId: number,
  id: number,
  include: string[] = [],
): Promise<Egg> {
  const ofNest = and(eq(eggs.id, id), eq(eggs.nestId, nestId))
  const egg = await findRow(panel.db, 'egg', eggs, ofNest, include)
  if (!egg) throw notFound()
  return egg
}
