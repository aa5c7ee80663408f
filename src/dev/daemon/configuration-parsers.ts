import type { ConfigurationReplacement } from './server-configuration.ts'

/** Rewrites the text of one configuration file; an empty text stands for a missing file. */
export type ConfigurationParser = (text: string, replacements: ConfigurationReplacement[]) => string

/** The parsers of egg configuration files, by the name that eggs use. */
export const configurationParsers: ReadonlyMap<string, ConfigurationParser> = new Map([
  ['file', replaceLines],
  ['properties', replaceProperties],
  ['ini', replaceIni],
  ['json', replaceJson],
])

function replaceLines(text: string, replacements: ConfigurationReplacement[]): string {
  const replaced = text.split('\n').map((line) => {
    const found = replacements.find((entry) => line.startsWith(entry.match))
    return found ? found.replaceWith : line
  })
  return replaced.join('\n')
}

function replaceProperties(text: string, replacements: ConfigurationReplacement[]): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  for (const entry of replacements) setAssignment(lines, 0, lines.length, entry, '=')
  return lines.map((line) => `${line}\n`).join('')
}

function replaceIni(text: string, replacements: ConfigurationReplacement[]): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  for (const entry of replacements) {
    const { section, key } = splitIniPath(entry.match)
    const named = { ...entry, match: key }
    let start = section === '' ? 0 : lines.findIndex((line) => line.trim() === `[${section}]`) + 1
    if (section !== '' && start === 0) {
      if (entry.ifValue !== '') continue
      start = lines.push(`[${section}]`)
    }
    const length = lines.slice(start).findIndex((line) => line.trim().startsWith('['))
    setAssignment(lines, start, length < 0 ? lines.length : start + length, named, ' = ')
  }
  return lines.map((line) => `${line}\n`).join('')
}

function splitIniPath(path: string): { section: string; key: string } {
  const bracketed = /^\[([^\]]+)\]\.(.+)$/.exec(path)
  if (bracketed) return { section: bracketed[1] ?? '', key: unbracket(bracketed[2] ?? '') }
  const dot = path.startsWith('[') ? -1 : path.indexOf('.')
  if (dot < 0) return { section: '', key: unbracket(path) }
  return { section: path.slice(0, dot), key: unbracket(path.slice(dot + 1)) }
}

function unbracket(key: string): string {
  return key.replace(/^\[(.*)\]$/, '$1')
}

function setAssignment(
  lines: string[],
  from: number,
  to: number,
  entry: ConfigurationReplacement,
  separator: string,
): void {
  for (let at = from; at < to; at += 1) {
    const parsed = /^\s*([^#!;=:\s][^=:]*?)\s*[=:]\s*(.*)$/.exec(lines[at] ?? '')
    if (!parsed || parsed[1] !== entry.match) continue
    const value = replaceValue(entry, parsed[2] ?? '')
    if (value !== undefined) lines[at] = `${entry.match}${separator}${value}`
    return
  }
  if (entry.ifValue === '') lines.splice(to, 0, `${entry.match}${separator}${entry.replaceWith}`)
}

/** Computes the new value; undefined when the condition of the replacement is not met. */
function replaceValue(entry: ConfigurationReplacement, present: string): string | undefined {
  if (entry.ifValue === '') return entry.replaceWith
  if (entry.ifValue.startsWith('regex:')) {
    const pattern = new RegExp(entry.ifValue.slice('regex:'.length), 'g')
    return present.search(pattern) < 0 ? undefined : present.replaceAll(pattern, entry.replaceWith)
  }
  return present === entry.ifValue ? entry.replaceWith : undefined
}

type JsonContainer = Record<string | number, unknown>

function replaceJson(text: string, replacements: ConfigurationReplacement[]): string {
  const root: unknown = text.trim() === '' ? {} : JSON.parse(text)
  if (!isContainer(root)) throw new Error('the file is not a JSON object')
  for (const entry of replacements) setJsonPath(root, splitJsonPath(entry.match), entry)
  return JSON.stringify(root, null, 4)
}

function splitJsonPath(path: string): (string | number)[] {
  return path.split('.').flatMap((part) => {
    const [name = '', ...indexes] = part.replaceAll(']', '').split('[')
    const positions = indexes.map(Number)
    return name === '' ? positions : [name, ...positions]
  })
}

function setJsonPath(
  parent: JsonContainer,
  path: (string | number)[],
  entry: ConfigurationReplacement,
): void {
  const [key, ...rest] = path
  if (key === undefined || key === '__proto__') return
  if (key === '*') {
    for (const child of Object.values(parent)) if (isContainer(child)) setJsonPath(child, rest, entry)
    return
  }
  if (rest.length === 0) {
    const present = parent[key]
    const value = present === undefined ? undefined : replaceValue(entry, String(present))
    if (value !== undefined) parent[key] = typedValue(entry, value)
    else if (entry.ifValue === '') parent[key] = typedValue(entry, entry.replaceWith)
    return
  }
  if (!isContainer(parent[key])) {
    if (entry.ifValue !== '') return
    parent[key] = typeof rest[0] === 'number' ? [] : {}
  }
  setJsonPath(parent[key] as JsonContainer, rest, entry)
}

function typedValue(entry: ConfigurationReplacement, value: string): unknown {
  if (entry.isBoolean) return value === 'true'
  return /^[+-]?\d{1,15}$/.test(value) ? Number(value) : value
}

function isContainer(value: unknown): value is JsonContainer {
  return typeof value === 'object' && value !== null
}
