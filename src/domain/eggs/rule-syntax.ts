import { parseDelimitedPattern } from './rule-pattern.ts'

/** A rule as the egg has it: its name in snake case and the text after the colon, null without one. */
export type ParsedRule = { name: string; argument: string | null }

const patternRule = /^\s*(?:not_)?regex:/i
// A pattern has at most 1 KiB, so searching further for its end is useless.
const maxSearchLength = 2048

/**
 * Splits the rules of a variable at pipes, except inside a pattern, which ends at its closing delimiter. Empty
 * rules are left out.
 */
export function splitRules(rules: string): ParsedRule[] {
  const pieces = rules.split('|')
  const parsedRules: ParsedRule[] = []
  for (let index = 0; index < pieces.length; index += 1) {
    const end = findLastPiece(pieces, index)
    const text = pieces.slice(index, end + 1).join('|')
    if (text.trim() !== '') parsedRules.push(parseRule(text))
    index = end
  }
  return parsedRules
}

/** Splits the parameters of a rule at commas; quotes protect commas, and an empty item counts. */
export function parseRuleParameters(argument: string | null): string[] {
  if (argument === null) return []
  const parameters: string[] = []
  const itemPattern = /(?:"((?:[^"]|"")*)"|([^,]*))(,|$)/y
  for (;;) {
    const match = itemPattern.exec(argument)
    if (!match) return argument.split(',')
    parameters.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === '') return parameters
  }
}

function findLastPiece(pieces: string[], start: number): number {
  const first = pieces[start] ?? ''
  if (!patternRule.test(first)) return start
  let pattern = first.replace(patternRule, '')
  for (let end = start; end < pieces.length && pattern.length <= maxSearchLength; end += 1) {
    if (end > start) pattern += `|${pieces[end] ?? ''}`
    if (parseDelimitedPattern(pattern)) return end
  }
  return start
}

function parseRule(text: string): ParsedRule {
  const colon = text.indexOf(':')
  const name = (colon < 0 ? text : text.slice(0, colon))
    .trim()
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[-\s]+/g, '_')
    .toLowerCase()
  return { name: synonyms.get(name) ?? name, argument: colon < 0 ? null : text.slice(colon + 1) }
}

const synonyms = new Map([
  ['int', 'integer'],
  ['bool', 'boolean'],
])
