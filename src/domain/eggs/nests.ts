import { eq, sql } from 'drizzle-orm'
import * as z from 'zod'
import { isForeignKeyViolation, single } from '../../db/database.ts'
import type { RowPage } from '../../db/pagination.ts'
import { findRow, listRows } from '../../db/related-rows.ts'
import { nests } from '../../db/schema.ts'
import type { Nest } from '../../db/tables/nests.ts'
import { displayError, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordAdminEvent, recordAdminUpdate } from '../activity/record.ts'
import { textBetween } from '../fields.ts'
import { type ListRequest, shapeName } from '../filters.ts'
import { requireExpectedVersion, versionOf } from '../versions.ts'

/** Spec: postApplicationNests. The author defaults to the caller. */
export const NestInput = () =>
  z.object({
    name: textBetween(1, 191),
    description: z.string().max(10_000, 'max').nullish(),
    author: textBetween(1, 191).nullish(),
  })
/** The same fields, all optional. Spec: patchApplicationNestsByNest. */
export const NestChanges = () => NestInput().partial()
type NestInput = z.output<ReturnType<typeof NestInput>>

/** Lists a page of nests by id. Spec: getApplicationNests. */
export function listNests(panel: Panel, request: ListRequest, include: string[]): Promise<RowPage<Nest>> {
  return listRows(panel.db, 'nest', { ...request, include, name: shapeName(request) })
}

/** Finds a nest with its included relations. Refuses with 404. */
export async function findNest(panel: Panel, id: number, include: string[] = []): Promise<Nest> {
  const nest = await findRow<Nest>(panel.db, 'nest', eq(nests.id, id), include)
  if (!nest) throw notFound()
  return nest
}

/** Finds the nest of that name or adds it; concurrent calls get the same nest. Records `admin:nest.create`. */
export function ensureNest(
  panel: Panel,
  values: Pick<Nest, 'name' | 'description' | 'author'>,
): Promise<Nest> {
  return inTransaction(panel, async (tx) => {
    await tx.db.execute(sql`lock table ${nests} in share row exclusive mode`)
    const [existing] = await tx.db.select().from(nests).where(eq(nests.name, values.name)).orderBy(nests.id)
    return existing ?? insertNest(tx, values)
  })
}

/** Adds a nest. Records `admin:nest.create`. Spec: postApplicationNests. */
export async function addNest(panel: Panel, input: NestInput): Promise<Nest> {
  const { name, description } = input
  const values = { name, description: description ?? null, author: input.author ?? defaultAuthor(panel) }
  return inTransaction(panel, (tx) => insertNest(tx, values))
}

/** Does the same in a transaction. */
export async function insertNest(tx: Tx, values: typeof nests.$inferInsert): Promise<Nest> {
  const nest = single(await tx.db.insert(nests).values(values).returning())
  await recordAdminEvent(tx, 'admin:nest.create', toSubject(nest), { name: nest.name })
  return nest
}

/**
 * Changes the fields that were sent. Refuses with 404. Records `admin:nest.update`. Spec:
 * patchApplicationNestsByNest.
 */
export async function changeNest(panel: Panel, id: number, input: Partial<NestInput>): Promise<Nest> {
  const changes = {
    ...(input.name === undefined ? {} : { name: input.name }),
    ...(input.description === undefined ? {} : { description: input.description }),
    ...(input.author ? { author: input.author } : {}),
    updatedAt: panel.now(),
  }
  return inTransaction(panel, async (tx) => {
    const before = await lockNest(tx, id)
    requireExpectedVersion(tx, versionOf(before))
    const after = single(await tx.db.update(nests).set(changes).where(eq(nests.id, id)).returning())
    await recordAdminUpdate(tx, 'admin:nest.update', toSubject(after), { name: after.name, before, after })
    return after
  })
}

/**
 * Removes a nest. Refuses with 400 while it has eggs, with 404. Records `admin:nest.delete`. Spec:
 * deleteApplicationNestsByNest.
 */
export async function removeNest(panel: Panel, id: number): Promise<void> {
  try {
    await inTransaction(panel, async (tx) => {
      const [removed] = await tx.db.delete(nests).where(eq(nests.id, id)).returning()
      if (!removed) throw notFound()
      await recordAdminEvent(tx, 'admin:nest.delete', toSubject(removed), { name: removed.name })
    })
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw displayError('nest_in_use', 'A nest with eggs cannot be deleted.')
  }
}

/**
 * Runs `work` in a transaction with the nest locked, so that its eggs and their inheritance do not change
 * meanwhile. Refuses with 404 when the nest does not exist.
 */
export function withNestLock<T>(panel: Panel, id: number, work: (tx: Tx) => Promise<T>): Promise<T> {
  return inTransaction(panel, async (tx) => {
    await lockNest(tx, id)
    return work(tx)
  })
}

async function lockNest(tx: Tx, id: number): Promise<Nest> {
  const [nest] = await tx.db.select().from(nests).where(eq(nests.id, id)).for('update')
  if (!nest) throw notFound()
  return nest
}

const toSubject = ({ id }: Nest) => ({ type: 'nest' as const, id })

/** The author of a nest or egg that names none: the caller. */
export const defaultAuthor = ({ actor, config }: Tx): string =>
  actor.kind === 'user' ? actor.user.email : config.name
