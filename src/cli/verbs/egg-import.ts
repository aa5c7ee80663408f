import * as z from 'zod'
import { EggFormatError } from '../../domain/eggs/format-error.ts'
import { importEgg } from '../../domain/eggs/import.ts'
import { parseEgg } from '../../domain/eggs/parse.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { type Issue, VerbError } from '../faults.ts'
import { nestNamed } from '../named-rows.ts'

/** What `egg:import` is given: documents as text, and the id or name of a nest. */
export const EggImporting = () =>
  z.object({
    nest: z.string().min(1, 'required').max(191, 'max'),
    files: z.array(z.object({ name: z.string(), text: z.string() })).min(1, 'required'),
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
 * Stores all eggs, or none. A nest that is named and does not exist is made. Refuses documents with
 * faults, naming every one of every file.
 */
export async function importEggs(
  panel: Panel,
  input: z.output<ReturnType<typeof EggImporting>>,
): Promise<ImportedEggs> {
  const read = input.files.map(({ name, text }) => ({ file: name, ...readEgg(name, text) }))
  const issues = read.flatMap((egg) => egg.issues)
  if (issues.length > 0) throw new VerbError('Nothing was imported.', issues)
  return inTransaction(panel, async (inner) => {
    const nest = await nestNamed(inner, input.nest)
    const eggs: ImportedEggs['eggs'] = []
    for (const { file, document } of read) {
      const { egg, isNew, warnings } = await importEgg(inner, nest, document)
      const { id, uuid, name, nestId } = egg
      eggs.push({ file, id, uuid, name, nest: nestId, state: isNew ? 'new' : 'updated', warnings })
    }
    return { eggs }
  })
}

function readEgg(file: string, text: string): { document: unknown; issues: Issue[] } {
  try {
    const document: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    parseEgg(document)
    return { document, issues: [] }
  } catch (error) {
    if (error instanceof EggFormatError) {
      return { document: null, issues: error.issues.map((issue) => ({ file, ...issue })) }
    }
    if (!(error instanceof SyntaxError)) throw error
    return { document: null, issues: [{ file, field: '', problem: `is not JSON: ${error.message}` }] }
  }
}
