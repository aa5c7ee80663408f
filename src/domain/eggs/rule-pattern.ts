/** A `regex:` argument in its parts: the pattern between the delimiters and the modifiers after them. */
export type DelimitedPattern = { body: string; modifiers: string }

const maxPatternBytes = 1024
const maxValueBytes = 10_240
const maxProgramSize = 5000
const closingBrackets = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
  ['<', '>'],
])
// `u`, `D`, `U` and `S` have no effect: matching is by code point, `$` is the end, and only success counts.
const modifierFlags = new Map<string, 'CASE_INSENSITIVE' | 'MULTILINE' | 'DOTALL' | null>([
  ['i', 'CASE_INSENSITIVE'],
  ['m', 'MULTILINE'],
  ['s', 'DOTALL'],
  ['u', null],
  ['D', null],
  ['U', null],
  ['S', null],
])

/** Parses a PCRE pattern with delimiters; null while the closing delimiter is missing. */
export function parseDelimitedPattern(argument: string): DelimitedPattern | null {
  const text = argument.trim()
  const opening = text[0]
  if (opening === undefined || /[\w\s\\]/.test(opening)) return null
  const closing = closingBrackets.get(opening)
  const end =
    closing === undefined ? findLastUnescaped(text, opening) : findClosingBracket(text, opening, closing)
  const modifiers = text.slice(end + 1)
  return end > 0 && /^[a-zA-Z]*$/.test(modifiers) ? { body: text.slice(1, end), modifiers } : null
}

/**
 * Compiles a `regex:` argument for a matcher of linear time (DO-6). Returns null when it is refused: no
 * delimiters, an unknown modifier, more than 1 KiB, a program that is too large, or syntax such as look-around.
 */
export async function compilePattern(argument: string): Promise<((value: string) => boolean) | null> {
  const pattern = byteLength(argument) <= maxPatternBytes ? parseDelimitedPattern(argument) : null
  if (!pattern) return null
  // With its tables it is a sixth of what a function would load, and most rules have no pattern.
  const { RE2JS } = await import('re2js')
  let flags = 0
  for (const modifier of pattern.modifiers) {
    const flag = modifierFlags.get(modifier)
    if (flag === undefined) return null
    if (flag !== null) flags |= RE2JS[flag]
  }
  try {
    const compiled = RE2JS.compile(pattern.body, flags)
    return compiled.programSize() > maxProgramSize ? null : (value) => compiled.test(value)
  } catch {
    return null
  }
}

/** Whether a value is short enough to be matched against a pattern: at most 10 KiB (DO-6). */
export function isMatchable(value: string): boolean {
  return byteLength(value) <= maxValueBytes
}

function findLastUnescaped(text: string, delimiter: string): number {
  const end = text.lastIndexOf(delimiter)
  const backslashes = /\\*$/.exec(text.slice(0, Math.max(end, 0)))?.[0].length ?? 0
  return backslashes % 2 === 0 ? end : -1
}

function findClosingBracket(text: string, opening: string, closing: string): number {
  let depth = 0
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]
    if (character === '\\') index += 1
    if (character === opening) depth += 1
    if (character === closing) depth -= 1
    if (depth === 0) return index
  }
  return -1
}

function byteLength(text: string): number {
  return text.length > maxValueBytes ? text.length : new TextEncoder().encode(text).length
}
