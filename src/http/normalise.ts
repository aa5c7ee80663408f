import * as z from 'zod'
import { badRequest } from '../errors.ts'

/** Levels of objects and lists in an input. */
export const maxDepth = 32
/** Members of an input at all its levels. */
export const maxKeys = 20_000
/** Keys by which an object reaches its prototype. */
export const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * How texts are taken: as they were sent (`exact`), with their blanks (`untrimmed`), or by member, where texts
 * without a rule of their own are trimmed. Empty texts are null but in the first case.
 */
export type TextRule = 'exact' | 'untrimmed' | { readonly [member: string]: TextRule }

const trimAll: TextRule = {}

/**
 * Returns a parsed body as an object. `null` and `[]` are an empty object: clients of the ecosystem send
 * them where nothing is needed. Refuses other values that are no objects with 400.
 */
export function requireObject(value: unknown): Record<string, unknown> {
  if (value === null || (Array.isArray(value) && value.length === 0)) return {}
  if (typeof value !== 'object' || Array.isArray(value))
    throw badRequest('request_malformed', 'The request body must be a JSON object.')
  return value as Record<string, unknown>
}

/** Applies the rule to every text. Refuses with 400 what no store or reader could take. */
export function normalise(value: Record<string, unknown>, rule: TextRule = trimAll): Record<string, unknown> {
  const budget = { keys: maxKeys }
  return normaliseValue(value, rule, 0, budget) as Record<string, unknown>
}

function normaliseValue(value: unknown, rule: TextRule, depth: number, budget: { keys: number }): unknown {
  if (typeof value === 'string') return normaliseText(value, rule)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) throw badRequest('request_malformed', 'The request is nested too deeply.')
  if (Array.isArray(value)) {
    consumeBudget(budget, value.length)
    return value.map((member) => normaliseValue(member, rule, depth + 1, budget))
  }
  const entries = Object.entries(value)
  consumeBudget(budget, entries.length)
  return Object.fromEntries(
    entries.map(([name, member]) => {
      if (forbiddenKeys.has(name))
        throw badRequest('request_malformed', 'The request has a key that is not allowed.')
      return [requireStorableText(name), normaliseValue(member, memberRule(rule, name), depth + 1, budget)]
    }),
  )
}

function memberRule(rule: TextRule, name: string): TextRule {
  if (rule === 'exact') return rule
  return typeof rule === 'object' && Object.hasOwn(rule, name) ? (rule[name] ?? trimAll) : trimAll
}

function consumeBudget(budget: { keys: number }, count: number): void {
  budget.keys -= count
  if (budget.keys < 0) throw badRequest('request_malformed', 'The request has too many members.')
}

function normaliseText(text: string, rule: TextRule): string | null {
  requireStorableText(text)
  if (rule === 'exact') return text
  const taken = rule === 'untrimmed' ? text : text.trim()
  return taken === '' ? null : taken
}

/** Refuses with 400 what cannot be stored as text: NUL and lone surrogates. */
function requireStorableText(text: string): string {
  if (text.includes('\0') || !text.isWellFormed())
    throw badRequest('request_malformed', 'The request has text that cannot be stored.')
  return text
}

type Def = {
  shape?: Record<string, z.core.$ZodType>
  innerType?: z.core.$ZodType
  in?: z.core.$ZodType
  out?: z.core.$ZodType
  element?: z.core.$ZodType
  left?: z.core.$ZodType
  right?: z.core.$ZodType
  options?: z.core.$ZodType[]
}

/** Reads from a schema which of its texts keep their blanks: those with `preserveWhitespace` in their metadata. */
export function textRuleOf(schema: z.core.$ZodType): TextRule {
  if (z.globalRegistry.get(schema)?.preserveWhitespace === true) return 'untrimmed'
  const { shape = {}, innerType, in: input, out, element, left, right, options = [] } = schema._zod.def as Def
  const members = Object.entries(shape).map(([name, member]) => ({ [name]: textRuleOf(member) }))
  const inner = [innerType, input, out, element, left, right, ...options].flatMap((each) =>
    each ? [textRuleOf(each)] : [],
  )
  return [...members, ...inner].reduce<TextRule>(mergeRules, trimAll)
}

/** Keeps the blanks that either rule keeps. */
function mergeRules(one: TextRule, other: TextRule): TextRule {
  if (typeof one !== 'object') return one
  return typeof other === 'object' ? { ...one, ...other } : other
}
