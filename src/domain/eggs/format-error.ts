import { invalid, type Reason, type ReasonValues } from '../../errors.ts'

/** What can be wrong with an egg document, by reason: what follows the name of the field or of the document. */
export const eggProblems = {
  egg_nul_character: 'contains a NUL character',
  egg_too_deep: 'is nested deeper than {{max}} levels',
  egg_too_many_members: 'exceeds the limit of {{max}} members',
  egg_name_forbidden: 'has a forbidden name',
  egg_not_object: 'must be an object',
  egg_not_text: 'must be text',
  egg_not_texts: 'must be a list of texts',
  egg_not_text_or_texts: 'must be text or a list of texts',
  egg_not_list: 'must be a list',
  egg_part_missing: 'is missing',
  egg_text_too_long: 'is longer than {{max}} characters',
  egg_not_json: 'is not valid JSON',
  egg_not_yaml: 'is not YAML: {{problem}}',
  egg_not_yaml_at: 'is not YAML: {{problem}} at line {{line}}, column {{column}}',
  egg_not_one_document: 'must be one YAML document',
  egg_too_large: 'is larger than 1 MiB',
  egg_format_unsupported: 'is not a supported egg format',
  egg_image_required: 'must name at least one image',
  egg_image_invalid: 'is not an image name of at most 191 characters',
  egg_command_required: 'must contain a command',
  egg_variable_name_invalid: 'must be 1 to 191 letters, digits and underscores',
  egg_variable_name_reserved: '{{name}} is a reserved name',
} satisfies { [Name in Reason]?: string }

export type EggReason = keyof typeof eggProblems

/** A fault of an egg document: the dotted field, and what is wrong with it in English and by its reason. */
export type EggIssue = { field: string; problem: string; reason: EggReason; values?: ReasonValues }

/** Creates a fault of a field, or of the whole document where that is empty. */
export function eggIssue(field: string, reason: EggReason, values?: ReasonValues): EggIssue {
  const problem = eggProblems[reason].replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) =>
    String(values?.[name]),
  )
  return { field, problem, reason, ...(values ? { values } : {}) }
}

/** An egg document that cannot be imported; `issues` lists every fault. */
export class EggFormatError extends Error {
  readonly issues: EggIssue[]

  constructor(issues: EggIssue[]) {
    super(issues.map((issue) => `${issue.field}: ${issue.problem}`).join('; '))
    this.name = 'EggFormatError'
    this.issues = issues
  }
}

/** Runs `work`, and refuses with 422 and every fault when it throws an `EggFormatError`. */
export async function refuseEggFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof EggFormatError)) throw error
    throw invalid(
      error.issues.map(({ field, problem, ...why }) => ({
        field,
        rule: 'egg_format',
        detail: field ? `The ${field} field ${problem}.` : `The document ${problem}.`,
        ...why,
      })),
    )
  }
}
