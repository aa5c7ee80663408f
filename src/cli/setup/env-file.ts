import { readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { reasonOf, VerbError } from '../faults.ts'

export type Values = Record<string, string>

/** A file of variables as shells and `wrangler secret bulk` read it, and where each name stands in it. */
export type EnvFile = { lines: string[]; values: Values }

const assignment = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/
/** Shells run a command where there are blanks around the sign; other readers do not mind. */
const isTight = (line: string) => /^\s*(?:export\s+)?\w+=(?:\S|\s*$)/.test(line)
/** What a shell reads as it stands. */
const plain = /^[\w@%+=:,./^-]*$/
const safelyQuoted = /^(?:'[^']*'|"[^"$`\\!]*")$/

/** The file; null when there is none. Refuses what is no `NAME=value`, line by line, without repeating it. */
export async function readEnvFile(path: string): Promise<EnvFile | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new VerbError(`${path} cannot be read: ${reasonOf(error)}`)
  })
  if (text === null) return null
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/)
  const read = lines.map(readLine)
  const issues = read.flatMap((found, at) =>
    typeof found === 'string' ? [{ field: `line ${at + 1}`, problem: found }] : [],
  )
  if (issues.length > 0) throw new VerbError(`${path} is not understood.`, issues)
  return { lines: text === '' ? [] : lines, values: Object.assign({}, ...read) as Values }
}

/** What the line sets, or what is wrong with it. */
function readLine(line: string): Values | string {
  if (/^\s*(?:#|$)/.test(line)) return {}
  const [, name = '', raw = ''] = assignment.exec(line) ?? []
  if (name === '') return 'must be NAME=value'
  const value = parseEnv(line)[name] ?? ''
  const quote = /^["'`]/.exec(raw)?.[0]
  if (quote !== undefined && value.startsWith(quote)) return `${name}: the quote is not closed`
  // Where a shell goes on, other readers see a comment.
  if (quote === undefined && /\S#/.test(raw)) return `${name}: put the value in quotes`
  return { [name]: value }
}

/**
 * The file's text with these values: those it lacks, or has empty, are filled in, whatever else stands there stays.
 * What only some readers would understand is put in quotes.
 */
export function withValues({ lines, values: known }: EnvFile, values: Values): string {
  const kept = lines.map((line) => {
    const [, name, raw = ''] = assignment.exec(line) ?? []
    if (name === undefined || /^\s*#/.test(line)) return line
    const value = values[name] ?? ''
    const isReadAlike = isTight(line) && (plain.test(raw) || safelyQuoted.test(raw))
    return isReadAlike && parseEnv(line)[name] === value ? line : written(name, value)
  })
  const added = Object.entries(values).filter(([name]) => !(name in known))
  return [...kept, ...added.map(([name, value]) => written(name, value)), ''].join('\n')
}

function written(name: string, value: string): string {
  if (plain.test(value)) return `${name}=${value}`
  if (/[\n\r]/.test(value))
    throw new VerbError(`${name} has a line break, which not every reader understands.`)
  if (!value.includes("'")) return `${name}='${value}'`
  if (!/["$`\\!]/.test(value)) return `${name}="${value}"`
  throw new VerbError(
    `${name} has both kinds of quotes or signs of shells, which not every reader understands.`,
  )
}

/**
 * Puts the text in place of the file, all of it or nothing, with this mode, or the one it has; true when that changed
 * anything. Refuses a place that cannot be written to.
 */
export async function replaceFile(path: string, text: string, wanted: number | null): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  const has = found ? found.mode & 0o777 : 0o644
  const mode = wanted ?? has
  const before = found?.isFile() ? await readFile(path, 'utf8') : null
  if (before === text && has === mode) return false
  const target = await realpath(path).catch(() => resolve(path))
  const draft = join(dirname(target), `.${crypto.randomUUID()}.draft`)
  try {
    await writeFile(draft, text, { mode, flag: 'wx' })
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true })
    throw new VerbError(`${path} cannot be written: ${reasonOf(error)}`)
  }
  return true
}
