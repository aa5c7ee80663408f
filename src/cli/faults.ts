import { EggFormatError } from '../domain/eggs/format-error.ts'
import { ApiError } from '../errors.ts'
import { EnvironmentError } from '../platform/env.ts'

/** One thing wrong with what was asked; `file` says in which of the files. */
export type Issue = { file?: string; field: string; problem: string }

/** Why something was not done, as `--json` prints it. */
export type Fault = { error: string; issues?: Issue[] }

/** The wrong words on the command line: answered with the usage and exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** A verb's "no" with all that is wrong. Nothing was changed. */
export class VerbError extends Error {
  readonly issues: Issue[]

  constructor(message: string, issues: Issue[] = []) {
    super(message)
    this.name = 'VerbError'
    this.issues = issues
  }
}

/**
 * The fault an error stands for. Of an error that nobody foresaw only the innermost message is told:
 * those around it quote statements with their values.
 */
export function faultOf(error: unknown): Fault {
  if (error instanceof VerbError) return withIssues(error.message, error.issues)
  if (error instanceof EggFormatError) return withIssues('The egg has faults.', error.issues)
  if (error instanceof EnvironmentError) return withIssues('The environment has faults.', faultsOf(error))
  if (error instanceof ApiError) {
    const issues = error.entries.flatMap(({ meta, detail }) =>
      meta ? [{ field: meta.source_field, problem: detail }] : [],
    )
    return withIssues(issues.length > 0 ? 'The input was refused.' : error.message, issues)
  }
  return { error: reasonOf(error) }
}

/** The innermost reason of a failure in a few words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonOf(error.cause)
  const [first] = error instanceof AggregateError ? error.errors : []
  return error.message || (first === undefined ? error.name : reasonOf(first))
}

/** The variables at fault, which the message lists one a line. */
const faultsOf = ({ message }: EnvironmentError): Issue[] =>
  message
    .split('\n')
    .slice(1)
    .map((line) => {
      const [field = '', ...problem] = line.trim().split(': ')
      return { field, problem: problem.join(': ') }
    })

const withIssues = (error: string, issues: Issue[]): Fault =>
  issues.length > 0 ? { error, issues } : { error }
