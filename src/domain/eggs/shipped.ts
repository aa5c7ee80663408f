import { createHash } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { eggs, eggVariables } from '../../db/schema.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import type { Nest } from '../../db/tables/nests.ts'
import type { Panel, Tx } from '../../panel.ts'
import { findExistingEgg, importEgg } from './import.ts'
import { eggMembers, variableMembers } from './members.ts'
import { withNestLock } from './nests.ts'
import { type EggImport, parseEgg } from './parse.ts'

/** Whether a shipped egg was written, or kept as an administrator edited it. */
export type SeededEgg = { egg: Pick<Egg, 'id' | 'name'>; isKept: boolean }

/**
 * Writes an egg that is shipped with the panel into its nest. Keeps an existing one with another content than a
 * seed wrote, unless `replacesEdited`: an administrator edited or imported it. `earlierChecksums` are those of
 * versions that did not store them. Spec: docs/eggs.md#included-eggs.
 */
export function seedEgg(
  panel: Panel,
  nest: Nest,
  document: unknown,
  options: { replacesEdited: boolean; earlierChecksums: string[] },
): Promise<SeededEgg> {
  return withNestLock(panel, nest.id, async (tx) => {
    const parsed = await parseEgg(document)
    const existing = await findExistingEgg(tx, nest.id, parsed)
    const isEdited = existing && (await hasOwnContent(tx, existing, parsed, options.earlierChecksums))
    if (isEdited && !options.replacesEdited) return { egg: existing, isKept: true }
    const { egg } = await importEgg(tx, nest, document, { replacesOther: true })
    const seededChecksum = eggChecksum(egg, await variablesOf(tx, egg))
    await tx.db.update(eggs).set({ seededChecksum }).where(eq(eggs.id, egg.id))
    return { egg, isKept: false }
  })
}

/** Whether an egg is neither what a seed wrote last nor what it would write now. */
async function hasOwnContent(
  tx: Tx,
  existing: Egg,
  shipped: EggImport,
  earlierChecksums: string[],
): Promise<boolean> {
  const seeded = existing.seededChecksum === null ? earlierChecksums : [existing.seededChecksum]
  const checksum = eggChecksum(existing, await variablesOf(tx, existing))
  return ![...seeded, eggChecksum(shipped.egg, shipped.variables)].includes(checksum)
}

const variablesOf = (tx: Tx, { id }: Egg) =>
  tx.db.select().from(eggVariables).where(eq(eggVariables.eggId, id))

/**
 * Computes the checksum of what an import writes. An egg whose checksum is computed in another way than when it
 * was seeded counts as edited.
 */
export function eggChecksum(egg: EggImport['egg'], variables: EggImport['variables']): string {
  const sorted = variables.toSorted((a, b) => (a.envVariable < b.envVariable ? -1 : 1))
  // An import keeps the author of the egg that it replaces.
  const content = [{ ...eggMembers(egg), author: null }, sorted.map(variableMembers)]
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}
