import { EggFormatError } from '../domain/eggs/format-error.ts'
import { ApiError } from '../errors.ts'
import { EnvironmentError } from '../platform/env.ts'

/** One problem of an input; `file` is set when there are several files. */
export type Issue = { file?: string; field: string; problem: string }

/** A failure as `--json` prints it. */
export type Fault = { error: string; issues?: Issue[] }

/** Invalid arguments on the command line, answered with the usage and exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** An operation was refused, with all problems of its input. Nothing was changed. */
export class OperationError extends Error {
  readonly issues: Issue[]

  constructor(message: string, issues: Issue[] = []) {
    super(message)
    this.name = 'OperationError'
    this.issues = issues
  }
}

/** Converts an error for output. Of an unexpected error only the innermost message is kept: outer ones quote values of statements. */
export function faultOf(error: unknown): Fault {
  if (error instanceof OperationError) return withIssues(error.message, error.issues)
  if (error instanceof EggFormatError)
    return withIssues(
      'The egg is invalid.',
      error.issues.map(({ field, problem }) => ({ field, problem })),
    )
  if (error instanceof EnvironmentError)
    return withIssues('The environment is invalid.', error.faults.map(toIssue))
  if (error instanceof ApiError) {
    const issues = error.entries.flatMap(({ meta, detail }) =>
      meta.source_field === undefined ? [] : [{ field: meta.source_field, problem: detail }],
    )
    return withIssues(issues.length > 0 ? 'The input is invalid.' : error.message, issues)
  }
  return { error: reasonOf(error) }
}

/** Returns the message of the innermost cause of an error. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonOf(error.cause)
  const [first] = error instanceof AggregateError ? error.errors : []
  return error.message || (first === undefined ? error.name : reasonOf(first))
}

/** Splits `NAME: problem`. */
function toIssue(fault: string): Issue {
  const [field = '', ...problem] = fault.split(': ')
  return { field, problem: problem.join(': ') }
}

const withIssues = (error: string, issues: Issue[]): Fault =>
  issues.length > 0 ? { error, issues } : { error }
