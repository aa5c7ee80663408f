import * as z from 'zod'
import { EggFormatError } from '../../domain/eggs/format-error.ts'
import { importEgg } from '../../domain/eggs/import.ts'
import { parseEgg } from '../../domain/eggs/parse.ts'
import { parseEggYaml } from '../../domain/eggs/yaml.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { type Issue, OperationError } from '../faults.ts'
import { findOrCreateNest } from '../find-by-name.ts'

/** The input of `egg:import`: documents as text, and the id or name of a nest. */
export const EggImportInput = () =>
  z.object({
    nest: z.string().min(1, 'required').max(191, 'max'),
    files: z.array(z.object({ name: z.string(), text: z.string() })).min(1, 'required'),
    replace: z.boolean().default(false),
  })

export type ImportedEggs = {
  eggs: {
    file: string
    id: number
    uuid: string
    name: string
    nest: number
    state: 'new' | 'updated'
    warnings: string[]
  }[]
}

/**
 * Imports all eggs or none, and creates a nest with a new name. Throws with all problems of all files, and where an
 * egg would replace one of another origin without `replace`.
 */
export async function importEggs(
  panel: Panel,
  input: z.output<ReturnType<typeof EggImportInput>>,
): Promise<ImportedEggs> {
  const documents = await Promise.all(
    input.files.map(async ({ name, text }) => ({ file: name, ...(await readEgg(name, text)) })),
  )
  const issues = documents.flatMap((egg) => egg.issues)
  if (issues.length > 0) throw new OperationError('Nothing was imported.', issues)
  return inTransaction(panel, async (tx) => {
    const nest = await findOrCreateNest(tx, input.nest)
    const eggs: ImportedEggs['eggs'] = []
    for (const { file, document } of documents) {
      const { egg, isNew, warnings } = await importEgg(tx, nest, document, { replacesOther: input.replace })
      const { id, uuid, name, nestId } = egg
      eggs.push({ file, id, uuid, name, nest: nestId, state: isNew ? 'new' : 'updated', warnings })
    }
    return { eggs }
  })
}

async function readEgg(file: string, text: string): Promise<{ document: unknown; issues: Issue[] }> {
  try {
    const document = await parseDocument(text.replace(/^\uFEFF/, ''))
    await parseEgg(document)
    return { document, issues: [] }
  } catch (error) {
    if (error instanceof EggFormatError) {
      return { document: null, issues: error.issues.map(({ field, problem }) => ({ file, field, problem })) }
    }
    if (!(error instanceof SyntaxError)) throw error
    return { document: null, issues: [{ file, field: '', problem: `is not JSON: ${error.message}` }] }
  }
}

/** Parses JSON, which begins with a brace, or else YAML. */
async function parseDocument(text: string): Promise<unknown> {
  return /^\s*\{/.test(text) ? JSON.parse(text) : parseEggYaml(text)
}
