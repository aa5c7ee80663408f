import { and, eq, notInArray, sql } from 'drizzle-orm'
import { single } from '../../db/database.ts'
import { eggs, eggVariables, nests } from '../../db/schema.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import { conflict } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordAdminEvent } from '../activity/record.ts'
import { invalidField, rejectDuplicates } from '../validation.ts'
import { eggChecksum } from './checksum.ts'
import { listEggVariables } from './eggs.ts'
import { refuseEggFaults } from './format-error.ts'
import { findEggOfNest, findExistingEgg } from './import-target.ts'
import { withNestLock } from './nests.ts'
import { type EggImport, parseEgg } from './parse.ts'

export type ImportedEgg = { egg: Egg; isNew: boolean; warnings: string[] }

type ImportOptions = {
  /** Also replaces an egg of another origin. */
  replacesOther?: boolean
  /** The egg to replace, whatever its name and origin. */
  eggId?: number
  /** Checksum of the egg to replace, as its preview had it. */
  checksum?: string
}

/**
 * Imports the egg of a document into the nest, new or in place of `eggId` or the one with the same uuid or name;
 * `warnings` say what will not work. Refuses with 404 when the nest or `eggId` does not exist, with 409 to replace an egg
 * of another origin or with another `checksum`, with 422 with every fault of the document, and a uuid of an egg of
 * another nest. Spec: postApplicationNestsByNestEggsImport.
 */
export async function importEggIntoNest(
  panel: Panel,
  nestId: number,
  document: unknown,
  options: ImportOptions = {},
): Promise<ImportedEgg> {
  return refuseEggFaults(() =>
    rejectDuplicates({ eggs_uuid: 'uuid' }, () =>
      withNestLock(panel, nestId, async (tx) => {
        const { uuid } = await parseEgg(document)
        const [taken] =
          uuid && options.eggId === undefined
            ? await tx.db.select().from(eggs).where(eq(eggs.uuid, uuid))
            : []
        if (taken && taken.nestId !== nestId)
          throw invalidField('uuid', 'unique', 'An egg of another nest has this uuid.', {
            reason: 'egg_uuid_taken',
          })
        return importEgg(tx, { id: nestId }, document, options)
      }),
    ),
  )
}

/**
 * Stores the egg of a document (`PTDL_v1`, `PTDL_v2`, `PLCN_*`). Replaces `eggId`, or else an egg of the nest with the
 * same uuid, or else the same name, field by field; variables are matched by name. Throws an `EggFormatError` with every
 * fault of the document and changes nothing then. Refuses with 409 to replace an egg of another origin, or one
 * with another checksum. Records `admin:egg.import`.
 */
export async function importEgg(
  tx: Tx,
  nest: { id: number },
  document: unknown,
  options: ImportOptions = {},
): Promise<ImportedEgg> {
  const parsed = await parseEgg(document)
  return inTransaction(tx, async (tx) => {
    await tx.db.select({ id: nests.id }).from(nests).where(eq(nests.id, nest.id)).for('update')
    const existing = await findReplacedEgg(tx, nest.id, parsed, options)
    const columns = {
      ...columnsToWrite(existing, parsed),
      documentLayout: parsed.layout,
      seededChecksum: null,
    }
    const egg = single(
      existing
        ? await tx.db
            .update(eggs)
            .set({ ...columns, updatedAt: tx.now() })
            .where(eq(eggs.id, existing.id))
            .returning()
        : await tx.db
            .insert(eggs)
            .values({ ...columns, nestId: nest.id, ...(parsed.uuid ? { uuid: parsed.uuid } : {}) })
            .returning(),
    )
    await replaceVariables(tx, egg.id, parsed.variables)
    const properties = { name: egg.name, replaced: existing !== undefined }
    await recordAdminEvent(tx, 'admin:egg.import', { type: 'egg', id: egg.id }, properties)
    return { egg, isNew: !existing, warnings: parsed.warnings }
  })
}

/** Finds the egg to replace. Refuses with 409 one of another origin, unless it was named, or another checksum. */
async function findReplacedEgg(
  tx: Tx,
  nestId: number,
  parsed: EggImport,
  { replacesOther = false, eggId, checksum }: ImportOptions,
): Promise<Egg | undefined> {
  const egg = await (eggId === undefined
    ? findExistingEgg(tx, nestId, parsed)
    : findEggOfNest(tx, nestId, eggId))
  if (egg && eggId === undefined && !replacesOther && !hasSameOrigin(egg, parsed.egg)) throw otherOrigin(egg)
  if (checksum === undefined) return egg
  if (!egg) throw changedSincePreview()
  // Variables change under this lock of their egg.
  await tx.db.select({ id: eggs.id }).from(eggs).where(eq(eggs.id, egg.id)).for('no key update')
  if (eggChecksum(egg, await listEggVariables(tx, egg)) !== checksum) throw changedSincePreview()
  return egg
}

const changedSincePreview = () =>
  conflict('egg_changed', 'The egg has changed since the preview, so nothing was imported. Compare again.')

/** Returns the columns that an import writes: the author stays when the origin does. */
export const columnsToWrite = (existing: Egg | undefined, { egg }: EggImport): EggImport['egg'] =>
  existing && hasSameOrigin(existing, egg) ? { ...egg, author: existing.author } : egg

type Origin = Pick<Egg, 'updateUrl' | 'author'>

/** Whether two eggs have the same update URL or, where one has none, the same author. */
export function hasSameOrigin(a: Origin, b: Origin): boolean {
  if (a.updateUrl && b.updateUrl) return a.updateUrl.trim() === b.updateUrl.trim()
  return a.author.trim().toLowerCase() === b.author.trim().toLowerCase()
}

const otherOrigin = ({ id, name, updateUrl, author }: Egg) =>
  conflict(
    'egg_of_other_origin',
    `The egg ${name} (${id}) of this nest has another origin (${updateUrl ?? author}). Import it with replace=true to replace it, or into another nest.`,
    { values: { name, id, origin: updateUrl ?? author } },
  )

async function replaceVariables(tx: Tx, eggId: number, variables: EggImport['variables']): Promise<void> {
  const names = variables.map(({ envVariable }) => envVariable)
  await tx.db
    .delete(eggVariables)
    .where(
      and(
        eq(eggVariables.eggId, eggId),
        names.length > 0 ? notInArray(eggVariables.envVariable, names) : undefined,
      ),
    )
  if (variables.length === 0) return
  await tx.db
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
        updatedAt: tx.now(),
      },
    })
}
