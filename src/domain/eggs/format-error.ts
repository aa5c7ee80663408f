import { invalid } from '../../errors.ts'

/** A fault of an egg document: the dotted field and what is wrong with it. */
export type EggIssue = { field: string; problem: string }

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
      error.issues.map(({ field, problem }) => ({
        field,
        rule: 'egg_format',
        detail: field ? `The ${field} field ${problem}.` : `The document ${problem}.`,
      })),
    )
  }
}
