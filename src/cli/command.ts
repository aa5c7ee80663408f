import type { ParseArgsOptionsConfig } from 'node:util'
import type { Env } from '../platform/env.ts'
import { announceDatabase } from './database.ts'
import { UsageError } from './faults.ts'
import { runOperation } from './run-operation.ts'

/** The arguments after the verb: options by name, and positional arguments. */
export type CommandArguments = {
  values: Record<string, string | boolean | (string | boolean)[] | undefined>
  positionals: string[]
}

/** The output of a verb: as text, and as JSON for `--json`; on standard error where standard output is a file. */
export type Report = { text: string; json: unknown; exitCode?: number; onStandardError?: boolean }

/** One verb of the command line. */
export type Command = {
  /** The verb with its arguments, as written after `npm run panel --`. */
  synopsis: string
  summary: string
  /** The part of `--help` below the summary: options and notes. */
  help: string
  options: ParseArgsOptionsConfig
  /** Names of required options. */
  required?: string[]
  /** Number of positional arguments. */
  positionals: [min: number, max: number]
  run: (raw: Record<string, unknown>, args: CommandArguments) => Promise<Report>
}

/** Returns the text of an option, or undefined. */
export function textOption({ values }: CommandArguments, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value.trim() : undefined
}

/** Whether an option without a value was given. */
export const isSet = ({ values }: CommandArguments, name: string): boolean => values[name] === true

/** Returns the texts of a repeatable option, or undefined. */
export function textsOption({ values }: CommandArguments, name: string): string[] | undefined {
  const value = values[name]
  return Array.isArray(value) ? value.map((text) => String(text).trim()) : undefined
}

/** Throws a `UsageError` for missing options, and for missing or unexpected arguments. */
export function requireArguments(command: Command, args: CommandArguments): void {
  const [min, max] = command.positionals
  const missing = (command.required ?? []).filter((name) => args.values[name] === undefined)
  if (missing.length > 0) throw new UsageError(`Missing: ${missing.map((name) => `--${name}`).join(', ')}`)
  if (args.positionals.length < min) throw new UsageError('An argument is missing.')
  const surplus = args.positionals[max]
  if (surplus !== undefined) throw new UsageError(`Unexpected argument: ${surplus}`)
}

/** Prints the database and runs an operation on it. The output is not validated. */
export async function callOperation<Output>(
  env: Env,
  args: CommandArguments,
  verb: string,
  input: object,
): Promise<Output> {
  await announceDatabase(env, isSet(args, 'create'))
  return (await runOperation(env, { verb, input })) as Output
}

/** Formats names and values in two columns, one pair per line. */
export function columns(pairs: [name: string, value: string | number][]): string {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}
