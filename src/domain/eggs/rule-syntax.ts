import { readDelimited } from './rule-pattern.ts'

/** One rule as an egg writes it: its name in snake case and the text behind the colon, null without one. */
export type WrittenRule = { name: string; argument: string | null }

const patternRule = /^\s*(?:not_)?regex:/i
// A pattern may have 1 KiB; looking further for its end would only cost time.
const searchLimit = 2048

/**
 * Takes the rules of a variable apart. Rules are split at pipes, except that a pattern whose closing
 * delimiter has not come yet goes on after the pipe. Empty rules are left out.
 */
export function splitRules(rules: string): WrittenRule[] {
  const pieces = rules.split('|')
  const written: WrittenRule[] = []
  for (let index = 0; index < pieces.length; index += 1) {
    const end = lastPiece(pieces, index)
    const text = pieces.slice(index, end + 1).join('|')
    if (text.trim() !== '') written.push(readRule(text))
    index = end
  }
  return written
}

/** The parameters of a rule: comma separated, quotes protect commas, and an empty item counts. */
export function ruleParameters(argument: string | null): string[] {
  if (argument === null) return []
  const parameters: string[] = []
  const item = /(?:"((?:[^"]|"")*)"|([^,]*))(,|$)/y
  for (;;) {
    const match = item.exec(argument)
    if (!match) return argument.split(',')
    parameters.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === '') return parameters
  }
}

function lastPiece(pieces: string[], start: number): number {
  const first = pieces[start] ?? ''
  if (!patternRule.test(first)) return start
  let pattern = first.replace(patternRule, '')
  for (let end = start; end < pieces.length && pattern.length <= searchLimit; end += 1) {
    if (end > start) pattern += `|${pieces[end] ?? ''}`
    if (readDelimited(pattern)) return end
  }
  return start
}

function readRule(text: string): WrittenRule {
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
