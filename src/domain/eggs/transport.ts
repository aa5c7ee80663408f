import type { Egg } from '../../db/tables/eggs.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import { invalid } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { findEgg, holdingNest } from '../nests.ts'
import { invalidField, refusingDuplicates } from '../validation.ts'
import { type EggDocument, exportEgg } from './export.ts'
import { EggFormatError } from './format-error.ts'
import { type ImportedEgg, importEgg } from './import.ts'
import { effectiveEgg } from './inheritance.ts'

type WithRelations = Egg & { config: Egg | null; script: Egg | null; variables: EggVariable[] }

/**
 * Stores the egg of a document in the nest, new or over the one with the same uuid or name; `warnings` say
 * what will not work. Refuses with 404 when there is no such nest, with 422 naming every fault of the
 * document, and a uuid that an egg of another nest has.
 */
export async function importIntoNest(panel: Panel, nestId: number, document: unknown): Promise<ImportedEgg> {
  try {
    return await refusingDuplicates({ eggs_uuid: 'uuid' }, () =>
      holdingNest(panel, nestId, async (panel) => {
        const imported = await importEgg(panel, { id: nestId }, document)
        if (imported.egg.nestId !== nestId)
          throw invalidField('uuid', 'unique', 'An egg of another nest has this uuid.')
        return imported
      }),
    )
  } catch (error) {
    if (!(error instanceof EggFormatError)) throw error
    throw invalid(
      error.issues.map(({ field, problem }) => ({
        field,
        rule: 'egg_format',
        detail: `The ${field || 'document'} field ${problem}.`,
      })),
    )
  }
}

/** The egg as a `PTDL_v2` document, what it takes from others written out. Refuses with 404 one of another nest. */
export async function exportFromNest(panel: Panel, nestId: number, id: number): Promise<EggDocument> {
  const egg = (await findEgg(panel, nestId, id, ['config', 'script', 'variables'])) as WithRelations
  return exportEgg(effectiveEgg(egg, egg.config, egg.script), egg.variables, panel.now())
}
