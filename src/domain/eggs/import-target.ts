import { and, eq } from 'drizzle-orm'
import { eggs } from '../../db/schema.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import { notFound } from '../../errors.ts'
import type { Tx } from '../../panel.ts'
import type { EggImport } from './parse.ts'

/** What the document and the egg that it replaces have in common; `egg` when the caller named it. */
export const eggMatches = ['egg', 'uuid', 'name', 'update_url'] as const
export type EggMatch = (typeof eggMatches)[number]

type Identity = Pick<EggImport, 'uuid' | 'egg'>

/** Finds the egg that a document replaces by itself: the one with its uuid, or else with its name in the nest. */
export async function findExistingEgg(tx: Tx, nestId: number, document: Identity): Promise<Egg | undefined> {
  return (await findByUuid(tx, document)) ?? (await findByName(tx, nestId, document))
}

/**
 * Finds the egg of the nest that a document would replace, and by what: `eggId`, its uuid, its name, or its update URL
 * where one egg alone has it. Refuses with 404 an `eggId` of another nest.
 */
export async function findEggToReplace(
  tx: Tx,
  nestId: number,
  document: Identity,
  eggId?: number,
): Promise<{ egg: Egg; matchedBy: EggMatch } | null> {
  if (eggId !== undefined) return { egg: await findEggOfNest(tx, nestId, eggId), matchedBy: 'egg' }
  const sameUuid = await findByUuid(tx, document)
  if (sameUuid?.nestId === nestId) return { egg: sameUuid, matchedBy: 'uuid' }
  const sameName = await findByName(tx, nestId, document)
  if (sameName) return { egg: sameName, matchedBy: 'name' }
  const { updateUrl } = document.egg
  if (updateUrl === null) return null
  const sameUrl = await tx.db
    .select()
    .from(eggs)
    .where(and(eq(eggs.nestId, nestId), eq(eggs.updateUrl, updateUrl)))
    .limit(2)
  const [egg] = sameUrl
  return egg && sameUrl.length === 1 ? { egg, matchedBy: 'update_url' } : null
}

/** Finds an egg of the nest. Refuses with 404. */
export async function findEggOfNest(tx: Tx, nestId: number, id: number): Promise<Egg> {
  const [egg] = await tx.db
    .select()
    .from(eggs)
    .where(and(eq(eggs.id, id), eq(eggs.nestId, nestId)))
  if (!egg) throw notFound()
  return egg
}

async function findByUuid(tx: Tx, { uuid }: Identity): Promise<Egg | undefined> {
  if (!uuid) return undefined
  const [egg] = await tx.db.select().from(eggs).where(eq(eggs.uuid, uuid))
  return egg
}

async function findByName(tx: Tx, nestId: number, { egg: { name } }: Identity): Promise<Egg | undefined> {
  const [egg] = await tx.db
    .select()
    .from(eggs)
    .where(and(eq(eggs.nestId, nestId), eq(eggs.name, name)))
    .orderBy(eggs.id)
    .limit(1)
  return egg
}
