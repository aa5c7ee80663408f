import * as z from 'zod'
import { single } from '../../db/database.ts'
import { eggs, eggVariables } from '../../db/schema.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import type { Panel } from '../../panel.ts'
import { recordAdminEvent } from '../activity/record.ts'
import { textBetween } from '../fields.ts'
import { listEggVariables } from './eggs.ts'
import { findEggOfNest } from './import-target.ts'
import { withNestLock } from './nests.ts'

/** Spec: postApplicationNestsByNestEggsByEggDuplicate. */
export const EggDuplicateInput = () => z.object({ name: textBetween(1, 191) })

/**
 * Copies an egg with its variables under another name into its nest, with another uuid and without an update URL: a copy
 * is made to be changed, and an update would undo that. Refuses with 404 an egg of another nest. Records
 * `admin:egg.create`. Spec: docs/eggs.md#duplicates.
 */
export function duplicateEgg(
  panel: Panel,
  nestId: number,
  eggId: number,
  input: { name: string },
): Promise<Egg> {
  return withNestLock(panel, nestId, async (tx) => {
    const original = await findEggOfNest(tx, nestId, eggId)
    const { id: _id, uuid: _uuid, createdAt: _createdAt, updatedAt: _updatedAt, ...columns } = original
    const copy = { ...columns, name: input.name, updateUrl: null, seededChecksum: null }
    const egg = single(await tx.db.insert(eggs).values(copy).returning())
    const variables = await listEggVariables(tx, original)
    if (variables.length > 0) {
      await tx.db.insert(eggVariables).values(
        variables.map(
          ({ name, description, envVariable, defaultValue, userViewable, userEditable, rules }) => ({
            eggId: egg.id,
            name,
            description,
            envVariable,
            defaultValue,
            userViewable,
            userEditable,
            rules,
          }),
        ),
      )
    }
    await recordAdminEvent(tx, 'admin:egg.create', { type: 'egg', id: egg.id }, { name: egg.name })
    return egg
  })
}
