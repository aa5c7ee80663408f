import { readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { OperationError, reasonOf } from '../faults.ts'

export type Values = Record<string, string>

/** The lines of a file of variables, as shells and `wrangler secret bulk` read it, and its values. */
export type EnvFile = { lines: string[]; values: Values }

const assignment = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/
/** With spaces around the equals sign, a shell would run a command; other programs ignore them. */
const hasNoSpaces = (line: string) => /^\s*(?:export\s+)?\w+=(?:\S|\s*$)/.test(line)
/** Values that need no quotes. */
const plainValue = /^[\w@%+=:,./^-]*$/
const safelyQuoted = /^(?:'[^']*'|"[^"$`\\!]*")$/

/** Reads the file; null when it does not exist. Throws for each line that is not `NAME=value`, without quoting it. */
export async function readEnvFile(path: string): Promise<EnvFile | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new OperationError(`${path} cannot be read: ${reasonOf(error)}`)
  })
  if (text === null) return null
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/)
  const read = lines.map(readLine)
  const issues = read.flatMap((found, index) =>
    typeof found === 'string' ? [{ field: `line ${index + 1}`, problem: found }] : [],
  )
  if (issues.length > 0) throw new OperationError(`${path} is not a file of variables.`, issues)
  return { lines: text === '' ? [] : lines, values: Object.assign({}, ...read) as Values }
}

/** Returns the variable of a line, or its problem. */
function readLine(line: string): Values | string {
  if (/^\s*(?:#|$)/.test(line)) return {}
  const [, name = '', raw = ''] = assignment.exec(line) ?? []
  if (name === '') return 'must be NAME=value'
  const value = parseEnv(line)[name] ?? ''
  const quote = /^["'`]/.exec(raw)?.[0]
  if (quote !== undefined && value.startsWith(quote)) return `${name}: the quote is not closed`
  // A shell reads # as a part of the value, other programs as the beginning of a comment.
  if (quote === undefined && /\S#/.test(raw)) return `${name}: put the value in quotes`
  return { [name]: value }
}

/**
 * Returns the text of the file with these values: adds missing ones, fills in empty ones, and keeps everything else.
 * Quotes values that shells and other programs read differently.
 */
export function mergeValues({ lines, values: known }: EnvFile, values: Values): string {
  const kept = lines.map((line) => {
    const [, name, raw = ''] = assignment.exec(line) ?? []
    if (name === undefined || /^\s*#/.test(line)) return line
    const value = values[name] ?? ''
    const isReadAlike = hasNoSpaces(line) && (plainValue.test(raw) || safelyQuoted.test(raw))
    return isReadAlike && parseEnv(line)[name] === value ? line : formatAssignment(name, value)
  })
  const added = Object.entries(values).filter(([name]) => !(name in known))
  return [...kept, ...added.map(([name, value]) => formatAssignment(name, value)), ''].join('\n')
}

function formatAssignment(name: string, value: string): string {
  if (plainValue.test(value)) return `${name}=${value}`
  if (/[\n\r]/.test(value))
    throw new OperationError(`${name} has a line break, which not every program reads the same way.`)
  if (!value.includes("'")) return `${name}='${value}'`
  if (!/["$`\\!]/.test(value)) return `${name}="${value}"`
  throw new OperationError(
    `${name} has both kinds of quotes or shell characters, which not every program reads the same way.`,
  )
}

/** Replaces a file atomically, with this mode or its own. Returns whether anything changed. Throws when it cannot be written. */
export async function replaceFile(path: string, text: string, wantedMode: number | null): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  const currentMode = found ? found.mode & 0o777 : 0o644
  const mode = wantedMode ?? currentMode
  const before = found?.isFile() ? await readFile(path, 'utf8') : null
  if (before === text && currentMode === mode) return false
  const target = await realpath(path).catch(() => resolve(path))
  const draft = join(dirname(target), `.${crypto.randomUUID()}.draft`)
  try {
    await writeFile(draft, text, { mode, flag: 'wx' })
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true })
    throw new OperationError(`${path} cannot be written: ${reasonOf(error)}`)
  }
  return true
}
