import type { ParseArgsOptionsConfig } from 'node:util'
import type { Env } from '../platform/env.ts'
import { UsageError } from './faults.ts'
import { perform } from './perform.ts'

/** What stood on the command line behind the verb: options by name, and the other words. */
export type Arguments = {
  values: Record<string, string | boolean | (string | boolean)[] | undefined>
  words: string[]
}

/** What a verb says: to people, and to programs with `--json`. */
export type Report = { text: string; json: unknown; exitCode?: number }

/** One verb of the command line. */
export type Command = {
  /** How it is written: what stands behind `npm run panel --`. */
  synopsis: string
  summary: string
  /** What `--help` says below the summary: options and what is worth knowing. */
  help: string
  options: ParseArgsOptionsConfig
  /** Options without which it makes no sense. */
  required?: string[]
  /** How many other words it takes at least and at most. */
  words: [least: number, most: number]
  run: (raw: Record<string, unknown>, given: Arguments) => Promise<Report>
}

/** The text of an option, or undefined without it. */
export function textOption({ values }: Arguments, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value.trim() : undefined
}

/** The texts of an option that may be given again and again; undefined without it. */
export function textsOption({ values }: Arguments, name: string): string[] | undefined {
  const value = values[name]
  return Array.isArray(value) ? value.map((text) => String(text).trim()) : undefined
}

/** Refuses, with the usage, what a command cannot work with. */
export function requireArguments(command: Command, given: Arguments): void {
  const [least, most] = command.words
  const missing = (command.required ?? []).filter((name) => given.values[name] === undefined)
  if (missing.length > 0) throw new UsageError(`Missing: ${missing.map((name) => `--${name}`).join(', ')}`)
  if (given.words.length < least) throw new UsageError('Something is missing behind the verb.')
  const surplus = given.words[most]
  if (surplus !== undefined) throw new UsageError(`Not understood: ${surplus}`)
}

/** Asks for a verb and trusts the shape of its answer: both are of this version. */
export async function ask<Output>(env: Env, verb: string, input: object): Promise<Output> {
  return (await perform(env, { verb, input })) as Output
}

/** Names and values in two columns, one pair a line. */
export function columns(pairs: [name: string, value: string | number][]): string {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}
