/** One thing wrong with an egg document: the dotted field and what is wrong with it. */
export type EggIssue = { field: string; problem: string }

/** Thrown for an egg document that cannot be imported; `issues` names every fault, never only the first. */
export class EggFormatError extends Error {
  readonly issues: EggIssue[]

  constructor(issues: EggIssue[]) {
    super(issues.map((issue) => `${issue.field}: ${issue.problem}`).join('; '))
    this.name = 'EggFormatError'
    this.issues = issues
  }
}
