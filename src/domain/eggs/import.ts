import { and, eq, notInArray, sql } from 'drizzle-orm'
import { only } from '../../db/database.ts'
import { eggs, eggVariables, nests } from '../../db/schema.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { type EggImport, parseEgg } from './parse.ts'

export type ImportedEgg = { egg: Egg; isNew: boolean; warnings: string[] }

/**
 * Stores the egg of a document (`PTDL_v1`, `PTDL_v2`, `PLCN_*`). An egg of the nest with the same
 * uuid, or else the same name, is replaced field by field; its variables are matched by name.
 *
 * Throws an `EggFormatError` that lists every fault of the document; then nothing is changed.
 */
export async function importEgg(panel: Panel, nest: { id: number }, document: unknown): Promise<ImportedEgg> {
  const parsed = parseEgg(document)
  return inTransaction(panel, async (panel) => {
    await panel.db.select({ id: nests.id }).from(nests).where(eq(nests.id, nest.id)).for('update')
    const existing = await findExisting(panel, nest.id, parsed)
    const egg = only(
      existing
        ? await panel.db
            .update(eggs)
            .set({ ...parsed.egg, author: existing.author, updatedAt: panel.now() })
            .where(eq(eggs.id, existing.id))
            .returning()
        : await panel.db
            .insert(eggs)
            .values({ ...parsed.egg, nestId: nest.id, ...(parsed.uuid ? { uuid: parsed.uuid } : {}) })
            .returning(),
    )
    await replaceVariables(panel, egg.id, parsed.variables)
    return { egg, isNew: !existing, warnings: parsed.warnings }
  })
}

async function findExisting(
  panel: Panel,
  nestId: number,
  { uuid, egg }: EggImport,
): Promise<Egg | undefined> {
  const sameUuid = uuid ? await panel.db.select().from(eggs).where(eq(eggs.uuid, uuid)) : []
  if (sameUuid[0]) return sameUuid[0]
  const [sameName] = await panel.db
    .select()
    .from(eggs)
    .where(and(eq(eggs.nestId, nestId), eq(eggs.name, egg.name)))
    .orderBy(eggs.id)
    .limit(1)
  return sameName
}

async function replaceVariables(
  panel: Panel,
  eggId: number,
  variables: EggImport['variables'],
): Promise<void> {
  const names = variables.map(({ envVariable }) => envVariable)
  await panel.db
    .delete(eggVariables)
    .where(
      and(
        eq(eggVariables.eggId, eggId),
        names.length > 0 ? notInArray(eggVariables.envVariable, names) : undefined,
      ),
    )
  if (variables.length === 0) return
  await panel.db
    .insert(eggVariables)
    .values(variables.map((variable) => ({ ...variable, eggId })))
    .onConflictDoUpdate({
      target: [eggVariables.eggId, eggVariables.envVariable],
      set: {
        name: sql`excluded.name`,
        description: sql`excluded.description`,
        defaultValue: sql`excluded.default_value`,
        userViewable: sql`excluded.user_viewable`,
        userEditable: sql`excluded.user_editable`,
        rules: sql`excluded.rules`,
        updatedAt: panel.now(),
      },
    })
}
