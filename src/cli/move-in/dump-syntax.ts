import type { SourceColumn } from './store-rows.ts'

/** A table that a statement names, with its database where the statement has it. */
export type TableName = { database?: string; table: string }
/** The start of an `INSERT` up to its first row. */
export type InsertHead = TableName & { columns: string[] | null; length: number }
/** A `CREATE TABLE` with the columns in their order. */
export type CreatedTable = TableName & { columns: SourceColumn[] }

const name = '(?:`(?:[^`]|``)+`|"(?:[^"]|"")+"|[\\w$]+)'
const qualified = `(?:(${name})\\s*\\.\\s*)?(${name})`
const insertPattern = new RegExp(
  `^(?:insert|replace)\\s+(?:(?:low_priority|high_priority|delayed|ignore)\\s+)*(?:into\\s+)?${qualified}\\s*(?:\\(([^)]*)\\)\\s*)?values?\\s*(?=\\()`,
  'i',
)
const createPattern = new RegExp(`^create\\s+table\\s+(?:if\\s+not\\s+exists\\s+)?${qualified}\\s*\\(`, 'i')
const usePattern = new RegExp(`^use\\s+(${name})`, 'i')
const lockPattern = new RegExp(`^lock\\s+tables?\\s+${qualified}\\s`, 'i')

/** Reads the start of an `INSERT … VALUES` or `REPLACE`; null for another form, or where more text is needed. */
export function parseInsertHead(text: string): InsertHead | null {
  const found = insertPattern.exec(text)
  if (!found) return null
  const columns = found[3] === undefined ? null : found[3].split(',').map((part) => unquote(part.trim()))
  return { ...nameOf(found), columns, length: found[0].length }
}

/** Reads the database of a `USE`; null for another statement. */
export const parseUse = (text: string): string | null => {
  const found = usePattern.exec(text)?.[1]
  return found === undefined ? null : unquote(found)
}

/** Reads the table of a `LOCK TABLES`, which stands before the rows of a table even where it has none. */
export const parseLock = (text: string): TableName | null => {
  const found = lockPattern.exec(text)
  return found && nameOf(found)
}

/** Reads the columns of a `CREATE TABLE`; null for another statement. */
export function parseCreateTable(text: string): CreatedTable | null {
  const found = createPattern.exec(text)
  if (!found) return null
  const columns = definitionsOf(text.slice(found[0].length)).flatMap(
    (definition) => columnOf(definition) ?? [],
  )
  return { ...nameOf(found), columns }
}

const settingPattern =
  /(?:^set\s+|,\s*)(?:(?:session|local|@@session\.|@@local\.|@@)\s*)?(@?\w+)\s*:?=\s*('(?:[^']|'')*'|"[^"]*"|@{0,2}[\w.]+)/gi

/** Reads the names in lower case and the values of a `SET`, texts without their quotes. */
export function parseSettings(text: string): [name: string, value: string][] {
  const names = /^set\s+names\s+['"]?(\w+)/i.exec(text)?.[1]
  if (names !== undefined) return [['names', names.toLowerCase()]]
  return [...text.matchAll(settingPattern)].map(([, key = '', value = '']) => [
    key.toLowerCase(),
    value.replace(/^(['"])(.*)\1$/s, '$2'),
  ])
}

function nameOf([, database, table = '']: RegExpExecArray): TableName {
  return { ...(database !== undefined && { database: unquote(database) }), table: unquote(table) }
}

function unquote(text: string): string {
  const mark = text[0] ?? ''
  return mark === '`' || mark === '"' ? text.slice(1, -1).replaceAll(mark + mark, mark) : text
}

/** Splits the definitions of a table at commas that are in no parentheses and no text. */
function definitionsOf(text: string): string[] {
  const definitions: string[] = []
  let [depth, start] = [0, 0]
  for (const { 0: part, index } of text.matchAll(/'(?:[^'\\]|\\.|'')*'|`[^`]*`|"[^"]*"|[(),]/gs)) {
    if (part === '(') depth += 1
    const isEnd = part === ')' && depth === 0
    if (part === ')') depth -= 1
    if (!isEnd && (part !== ',' || depth > 0)) continue
    definitions.push(text.slice(start, index).trim())
    start = index + 1
    if (isEnd) break
  }
  return definitions
}

const columnPattern = new RegExp(`^(${name})\\s+(\\w+)`)
const keyPattern = /^(?:primary|unique|key|index|constraint|fulltext|spatial|foreign|check|period)\b/i

function columnOf(definition: string): SourceColumn | null {
  if (keyPattern.test(definition)) return null
  const found = columnPattern.exec(definition)
  if (!found) return null
  const [, column = '', type = ''] = found
  const preset = /\sdefault\s+('(?:[^'\\]|\\.|'')*'|\S+)/i.exec(definition)?.[1]
  return { name: unquote(column), type: type.toLowerCase(), preset: preset ?? null }
}
