import { type EggIssue, eggIssue } from './format-error.ts'
import { prototypeNames } from './variable-names.ts'

/** What parsing a document has found so far: faults that refuse it, and warnings that do not. */
export type ParseContext = { issues: EggIssue[]; warnings: string[] }
export type JsonObject = Record<string, unknown>

export const maxDepth = 32
export const maxMembers = 5000

/** Whether a value is a JSON object: neither an array nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Finds the first fault in the structure of a document: more than 32 levels or 5,000 members, NUL characters,
 * which Postgres cannot store, and keys that reach a prototype (IN-6).
 */
export function findDocumentIssues(document: unknown): EggIssue[] {
  const issues: EggIssue[] = []
  let members = 0
  const visit = (value: unknown, field: string, depth: number): void => {
    if (typeof value === 'string' && value.includes('\0')) issues.push(eggIssue(field, 'egg_nul_character'))
    if (typeof value !== 'object' || value === null) return
    if (depth >= maxDepth) issues.push(eggIssue(field, 'egg_too_deep', { max: maxDepth }))
    for (const [key, inner] of Object.entries(value)) {
      if (issues.length > 0) return
      members += 1
      const path = field === '' ? key : `${field}.${key}`
      if (members > maxMembers) issues.push(eggIssue(path, 'egg_too_many_members', { max: maxMembers }))
      if (prototypeNames.includes(key)) issues.push(eggIssue(path, 'egg_name_forbidden'))
      if (key.includes('\0')) issues.push(eggIssue(field, 'egg_nul_character'))
      visit(inner, path, depth + 1)
    }
  }
  visit(document, '', 0)
  return issues
}

/** Reads the object at `key`; absent or an empty list counts as an empty one, another type is an issue. */
export function readObject(
  parent: JsonObject,
  key: string,
  field: string,
  context: ParseContext,
): JsonObject {
  const value = parent[key] ?? {}
  if (isJsonObject(value)) return value
  if (!(Array.isArray(value) && value.length === 0)) context.issues.push(eggIssue(field, 'egg_not_object'))
  return {}
}

/** Reads the text at `key`, null when absent; another type is an issue. */
export function readText(
  parent: JsonObject,
  key: string,
  field: string,
  context: ParseContext,
): string | null {
  const value = parent[key] ?? null
  if (value === null || typeof value === 'string') return value
  context.issues.push(eggIssue(field, 'egg_not_text'))
  return null
}

/**
 * Reads the text at `key`, of 1 to `maxLength` characters; absent, blank or longer text is an issue and returns
 * `''`.
 */
export function readRequiredText(
  parent: JsonObject,
  key: string,
  maxLength: number,
  context: ParseContext,
  field = key,
): string {
  const issuesBefore = context.issues.length
  const text = readText(parent, key, field, context)?.trim() ?? ''
  if (context.issues.length > issuesBefore) return ''
  if (text === '') context.issues.push(eggIssue(field, 'egg_part_missing'))
  if (text.length > maxLength) context.issues.push(eggIssue(field, 'egg_text_too_long', { max: maxLength }))
  return text
}

/** Reads the texts of a list, or of an object in place of one, without empty ones; null when absent. */
export function readTextList(
  parent: JsonObject,
  key: string,
  field: string,
  context: ParseContext,
): string[] | null {
  const value = parent[key] ?? null
  if (value === null) return null
  const items = typeof value === 'object' ? Object.values(value) : [value]
  const texts = items.filter((item) => typeof item === 'string')
  if (texts.length < items.length) context.issues.push(eggIssue(field, 'egg_not_texts'))
  return texts.filter((text) => text !== '')
}
