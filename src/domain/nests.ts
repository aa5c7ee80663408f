import { and, eq, sql } from 'drizzle-orm'
import * as z from 'zod'
import { foreignKeyViolation, only } from '../db/database.ts'
import { paginate, type RowPage } from '../db/pagination.ts'
import { fieldsOf, findRow } from '../db/relations.ts'
import { eggs, nests } from '../db/schema.ts'
import type { Egg } from '../db/tables/eggs.ts'
import type { Nest } from '../db/tables/nests.ts'
import { displayError, notFound } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { textBetween } from './fields.ts'
import type { ListRequest } from './filters.ts'

/** Spec: Resources, nest; the caller is the author unless another one is named. */
export const NestInput = () =>
  z.object({
    name: textBetween(1, 191),
    description: z.string().max(10_000, 'max').nullish(),
    author: textBetween(1, 191).nullish(),
  })
/** The same fields where only some are sent. */
export const NestChanges = () => NestInput().partial()
type NestInput = z.output<ReturnType<typeof NestInput>>

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

/** The nest of that name, made where there is none; those who ask for it at once get the same. */
export function ensureNest(
  panel: Panel,
  wanted: Pick<Nest, 'name' | 'description' | 'author'>,
): Promise<Nest> {
  return inTransaction(panel, async ({ db }) => {
    await db.execute(sql`lock table ${nests} in share row exclusive mode`)
    const [existing] = await db.select().from(nests).where(eq(nests.name, wanted.name)).orderBy(nests.id)
    return existing ?? only(await db.insert(nests).values(wanted).returning())
  })
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

/** Adds a nest. */
export async function addNest(panel: Panel, input: NestInput): Promise<Nest> {
  const { name, description } = input
  const values = { name, description: description ?? null, author: input.author ?? authorOf(panel) }
  return only(await panel.db.insert(nests).values(values).returning())
}

/** Changes the fields that were sent. Refuses with 404. */
export async function changeNest(panel: Panel, id: number, input: Partial<NestInput>): Promise<Nest> {
  const changes = {
    ...(input.name === undefined ? {} : { name: input.name }),
    ...(input.description === undefined ? {} : { description: input.description }),
    ...(input.author ? { author: input.author } : {}),
    updatedAt: panel.now(),
  }
  const [nest] = await panel.db.update(nests).set(changes).where(eq(nests.id, id)).returning()
  if (!nest) throw notFound()
  return nest
}

/** Removes a nest. Refuses with 400 one that has eggs, with 404 when there is none. */
export async function removeNest(panel: Panel, id: number): Promise<void> {
  try {
    const removed = await panel.db.delete(nests).where(eq(nests.id, id)).returning({ id: nests.id })
    if (removed.length === 0) throw notFound()
  } catch (error) {
    if (!foreignKeyViolation(error)) throw error
    throw displayError('A nest with eggs cannot be removed.')
  }
}

/**
 * Runs `work` in a transaction while nobody else changes which eggs the nest has or how they lean on each
 * other. Refuses with 404 when there is no such nest.
 */
export function holdingNest<T>(panel: Panel, id: number, work: (panel: Panel) => Promise<T>): Promise<T> {
  return inTransaction(panel, async (panel) => {
    const [nest] = await panel.db.select({ id: nests.id }).from(nests).where(eq(nests.id, id)).for('update')
    if (!nest) throw notFound()
    return work(panel)
  })
}

/** Whose work a nest or egg is that names nobody: the caller's. */
export const authorOf = ({ actor, config }: Panel): string =>
  actor.kind === 'user' ? actor.user.email : config.name
