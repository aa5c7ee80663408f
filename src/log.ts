import { redact, redactSecrets } from './redaction.ts'

/** Levels in ascending order; `off` logs nothing. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'off'] as const
export type LogLevel = (typeof logLevels)[number]

/**
 * The fields of a line, in this order. There are no headers, bodies or names of users, and addresses of callers only where
 * the operator wants them.
 */
const allowedFields = [
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
  'server',
  'entries',
  'key',
  'provider',
  'faults',
  'address',
] as const

type LogValue = string | number | boolean | null | readonly string[]
export type LogFields = Partial<Record<(typeof allowedFields)[number], LogValue | undefined>>

const maxTextLength = 300

let level: LogLevel = 'warn'
let hasAddresses = false
/** Takes lines of `info` and below. */
let writeLine: (line: string) => void = (line) => console.log(line)
/** Milliseconds between two warnings with the same message. */
const warnIntervalMs = 60_000
const lastWarnedAt = new Map<string, number>()

/** Sets the lowest level that this process logs, `warn` before the first call, and whether lines have the address of the caller. */
export function setLogLevel(minLevel: LogLevel, withAddresses = false): void {
  level = minLevel
  hasAddresses = withAddresses
  lastWarnedAt.clear()
}

/** Lets `write` take the lines of `info` and below, which are many; the others are written at once. */
export function setLineWriter(write: (line: string) => void): void {
  writeLine = write
}

/** Whether this process logs lines of a level: others need not be made. */
export const isLogged = (severity: Exclude<LogLevel, 'off'>): boolean =>
  logLevels.indexOf(severity) >= logLevels.indexOf(level)

/** Writes one line of JSON: time, level, message and the allowed fields, each cut to 300 characters. */
export function log(severity: Exclude<LogLevel, 'off'>, message: string, fields: LogFields = {}): void {
  if (!isLogged(severity)) return
  const line: Record<string, LogValue> = { time: new Date().toISOString(), level: severity, message }
  for (const name of allowedFields) {
    const value = fields[name]
    if (value !== undefined && (name !== 'address' || hasAddresses)) line[name] = truncate(value)
  }
  const text = JSON.stringify(line)
  if (severity === 'error') console.error(text)
  else if (severity === 'warn') console.warn(text)
  else writeLine(text)
}

/** Logs a warning about a lasting state that affects every request: each message once a minute in this process. */
export function warnOncePerMinute(message: string, fields: LogFields = {}): void {
  const now = performance.now()
  if (now - (lastWarnedAt.get(message) ?? -Infinity) < warnIntervalMs) return
  lastWarnedAt.set(message, now)
  log('warn', message, fields)
}

function truncate(value: LogValue): LogValue {
  if (typeof value === 'string') return value.slice(0, maxTextLength)
  return Array.isArray(value) ? value.map((text: string) => text.slice(0, maxTextLength)) : value
}

/**
 * Returns the message of the root error, without data of callers: outer errors quote the values of statements. URLs,
 * quoted text and secrets are removed, and the whole message where the database quotes a value (SQLSTATE class 22).
 */
export function causeOf(error: unknown): string {
  const root = rootOf(error)
  if (!(root instanceof Error)) return typeof root
  const code = (root as { code?: unknown }).code
  const isSqlState = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)
  if (isSqlState) return code.startsWith('22') ? '' : root.message
  const message = hasForeignText(root) ? redact(root.message) : redactSecrets(root.message)
  return message.replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '<address>').replace(/".*"/gs, '"…"')
}

/** Whether the message of an error is what another program answered: the errors that say so have this property. */
const hasForeignText = (error: Error): boolean =>
  (error as { hasForeignText?: unknown }).hasForeignText === true

/** Returns the class and code of an error, and where it was thrown. */
export function originOf(error: Error): Pick<LogFields, 'error' | 'code' | 'stack'> {
  const code = (rootOf(error) as { code?: unknown }).code
  // The stack begins with the message, which can have lines that look like a place.
  const places = error.stack?.slice(error.stack.indexOf(error.message) + error.message.length) ?? ''
  const lines = places.split('\n').map((line) => line.trim())
  return {
    error: error.name,
    code: typeof code === 'string' || typeof code === 'number' ? code : null,
    stack: lines.filter((line) => line.startsWith('at ')).slice(0, 8),
  }
}

const rootOf = (error: unknown): unknown =>
  error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error
