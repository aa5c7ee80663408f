import { eq } from 'drizzle-orm'
import { eggs } from '../../db/schema.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import type { Nest } from '../../db/tables/nests.ts'
import type { Panel, Tx } from '../../panel.ts'
import { eggChecksum } from './checksum.ts'
import { listEggVariables } from './eggs.ts'
import { findExistingEgg } from './import-target.ts'
import { importEgg } from './import.ts'
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
    const seededChecksum = eggChecksum(egg, await listEggVariables(tx, egg))
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
  const checksum = eggChecksum(existing, await listEggVariables(tx, existing))
  return ![...seeded, eggChecksum(shipped.egg, shipped.variables)].includes(checksum)
}
