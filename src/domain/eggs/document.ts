import type { EggIssue } from './format-error.ts'

/** What reading a document has found so far: faults that refuse it and remarks that do not. */
export type Reading = { issues: EggIssue[]; warnings: string[] }
export type JsonObject = Record<string, unknown>

const depthLimit = 32
const keyLimit = 5000
const prototypeKeys = ['__proto__', 'constructor', 'prototype']

/** Whether a value is a JSON object: neither an array nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Finds what no part of a document may hold: more than 32 levels, more than 5000 members, NUL characters
 * (Postgres stores none) and keys that reach a prototype. The first fault found, or none.
 */
export function documentFaults(document: unknown): EggIssue[] {
  const issues: EggIssue[] = []
  let members = 0
  const visit = (value: unknown, field: string, depth: number): void => {
    if (typeof value === 'string' && value.includes('\0'))
      issues.push({ field, problem: 'holds a NUL character' })
    if (typeof value !== 'object' || value === null) return
    if (depth >= depthLimit) issues.push({ field, problem: `is nested deeper than ${depthLimit} levels` })
    for (const [key, inner] of Object.entries(value)) {
      if (issues.length > 0) return
      members += 1
      const path = field === '' ? key : `${field}.${key}`
      if (members > keyLimit)
        issues.push({ field: path, problem: `is past the limit of ${keyLimit} members` })
      if (prototypeKeys.includes(key)) issues.push({ field: path, problem: 'has a forbidden name' })
      if (key.includes('\0')) issues.push({ field, problem: 'holds a NUL character' })
      visit(inner, path, depth + 1)
    }
  }
  visit(document, '', 0)
  return issues
}

/** The object at `key`, or an empty one; anything else than an object, an empty list or nothing is an issue. */
export function readObject(parent: JsonObject, key: string, field: string, reading: Reading): JsonObject {
  const value = parent[key] ?? {}
  if (isJsonObject(value)) return value
  if (!(Array.isArray(value) && value.length === 0))
    reading.issues.push({ field, problem: 'must be an object' })
  return {}
}

/** The text at `key`, null when absent; anything else than text is an issue. */
export function readText(parent: JsonObject, key: string, field: string, reading: Reading): string | null {
  const value = parent[key] ?? null
  if (value === null || typeof value === 'string') return value
  reading.issues.push({ field, problem: 'must be text' })
  return null
}

/** The text at `key`, of 1 to `limit` characters; absent, blank or longer text is an issue and gives `''`. */
export function readRequiredText(
  parent: JsonObject,
  key: string,
  limit: number,
  reading: Reading,
  field = key,
): string {
  const known = reading.issues.length
  const text = readText(parent, key, field, reading)?.trim() ?? ''
  if (reading.issues.length > known) return ''
  if (text === '') reading.issues.push({ field, problem: 'is missing' })
  if (text.length > limit) reading.issues.push({ field, problem: `is longer than ${limit} characters` })
  return text
}

/** The texts of a list, or of an object written in place of one; empty ones are left out, null when absent. */
export function readTextList(
  parent: JsonObject,
  key: string,
  field: string,
  reading: Reading,
): string[] | null {
  const value = parent[key] ?? null
  if (value === null) return null
  const items = typeof value === 'object' ? Object.values(value) : [value]
  const texts = items.filter((item) => typeof item === 'string')
  if (texts.length < items.length) reading.issues.push({ field, problem: 'must be a list of texts' })
  return texts.filter((text) => text !== '')
}
