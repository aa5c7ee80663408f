/** Levels of console lines, the most harmless first. A line without a level is `info`. */
export const levels = ['info', 'warn', 'error'] as const
export type Level = (typeof levels)[number]

const names: Record<string, Level> = {
  fatal: 'error',
  severe: 'error',
  critical: 'error',
  error: 'error',
  err: 'error',
  warning: 'warn',
  warn: 'warn',
  info: 'info',
  notice: 'info',
  fine: 'info',
  debug: 'info',
  trace: 'info',
}

const alternatives = Object.keys(names).join('|')
/** In the head of a line: a name in capitals between separators, as most loggers write it. */
const inCapitals = new RegExp(`(?:^|[\\s[(/<|])(${alternatives.toUpperCase()})(?=[\\s\\])>:|/]|$)`)
/** A name of any case where it can be no word of a sentence: in brackets, or before a colon at the beginning. */
const inBrackets = new RegExp(`\\[(${alternatives})\\]|^\\W{0,3}(${alternatives}):`, 'i')
/** The name of a level stands near the beginning of a line. */
const maxHeadLength = 120

/** Lines of a stack trace, which belong to the line before them. */
const continuation =
  /^\s*(?:at [\w$.<>/@]+[ (:]|Caused by: |Suppressed: |\.{3} \d+ (?:more|common)|[\w$]+(?:\.[\w$]+)*\.[\w$]*(?:Exception|Error)(?::|$)|File ".+", line \d)/
/** Beginnings of errors that have no level. */
const failure =
  /^(?:Exception in thread|Traceback \(most recent|panic: |Segmentation fault|Uncaught |# A fatal error)/

/** Returns the level that a line itself says, without escape sequences; null for a line of a stack trace. */
export function ownLevel(line: string): Level | null {
  if (continuation.test(line)) return null
  const head = line.length > maxHeadLength ? line.slice(0, maxHeadLength) : line
  const [, capitals] = inCapitals.exec(head) ?? []
  if (capitals !== undefined) return names[capitals.toLowerCase()] ?? 'info'
  const [, bracketed, leading] = inBrackets.exec(head) ?? []
  const name = bracketed ?? leading
  if (name !== undefined) return names[name.toLowerCase()] ?? 'info'
  return failure.test(head) ? 'error' : 'info'
}

/** Returns the level of a line after one of the level `before`. */
export const levelOf = (line: string, before: Level): Level =>
  ownLevel(line) ?? (before === 'info' ? 'error' : before)
