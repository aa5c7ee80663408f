/** Severities, the slightest first; with `off` nothing is written. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'off'] as const
export type LogLevel = (typeof logLevels)[number]

/** All that may stand in a line, in this order: no headers, bodies, addresses or names of people. */
const allowed = [
  'request',
  'method',
  'route',
  'surface',
  'status',
  'milliseconds',
  'statements',
  'actor',
  'actor_id',
  'error',
  'code',
  'cause',
  'stack',
  'throttle',
  'job',
  'jobs',
  'name',
  'node',
  'entries',
  'key',
  'provider',
  'faults',
] as const

type LogValue = string | number | boolean | null | readonly string[]
export type LogFields = Partial<Record<(typeof allowed)[number], LogValue | undefined>>

const longestText = 300

let level: LogLevel = 'warn'
/** Milliseconds for which a state that lasts is not told again. */
const pauseBetween = 60_000
const toldAt = new Map<string, number>()

/** From now on this process writes lines of this severity and above; until it is told, warnings and errors. */
export function setLogLevel(wanted: LogLevel): void {
  level = wanted
  toldAt.clear()
}

/** Writes one line of JSON: time, level, message and those of the fields that are allowed, each cut to 300 characters. */
export function log(severity: Exclude<LogLevel, 'off'>, message: string, fields: LogFields = {}): void {
  if (logLevels.indexOf(severity) < logLevels.indexOf(level)) return
  const line: Record<string, LogValue> = { time: new Date().toISOString(), level: severity, message }
  for (const name of allowed) {
    const value = fields[name]
    if (value !== undefined) line[name] = cut(value)
  }
  const text = JSON.stringify(line)
  if (severity === 'error') console.error(text)
  else if (severity === 'warn') console.warn(text)
  else console.log(text)
}

/** A warning about what every request meets while it lasts: one line a minute in this process, by its message. */
export function warnSeldom(message: string, fields: LogFields = {}): void {
  const now = performance.now()
  if (now - (toldAt.get(message) ?? -Infinity) < pauseBetween) return
  toldAt.set(message, now)
  log('warn', message, fields)
}

function cut(value: LogValue): LogValue {
  if (typeof value === 'string') return value.slice(0, longestText)
  return Array.isArray(value) ? value.map((text: string) => text.slice(0, longestText)) : value
}

/**
 * Why something failed, without what callers sent: the message at the root, as those around it hold the values of
 * statements. Addresses and quoted text are left out of it, and all of it where the database quotes a value.
 */
export function causeOf(error: unknown): string {
  const root = rootOf(error)
  if (!(root instanceof Error)) return typeof root
  const code = (root as { code?: unknown }).code
  const isSqlState = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)
  if (isSqlState) return code.startsWith('22') ? '' : root.message
  return root.message.replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '<address>').replace(/".*"/gs, '"…"')
}

/** What an error says of itself that is no text for people, and where it was thrown. */
export function originOf(error: Error): Pick<LogFields, 'error' | 'code' | 'stack'> {
  const code = (rootOf(error) as { code?: unknown }).code
  const lines = error.stack?.split('\n').map((line) => line.trim()) ?? []
  return {
    error: error.name,
    code: typeof code === 'string' || typeof code === 'number' ? code : null,
    stack: lines.filter((line) => line.startsWith('at ')).slice(0, 8),
  }
}

const rootOf = (error: unknown): unknown =>
  error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error
