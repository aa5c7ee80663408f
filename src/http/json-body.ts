import type { Context } from 'hono'
import { badRequest, payloadTooLarge } from '../errors.ts'

const deepest = 32
const mostKeys = 20_000
/** Keys by which an object reaches its prototype. */
export const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
/** Whose blanks are part of them. */
const untrimmed = new Set(['password', 'password_confirmation', 'current_password'])

/** The text of the body, read no further than `limit` bytes. Refuses with 413 above. */
export const readText = async (request: Request, limit: number): Promise<string> =>
  new TextDecoder().decode(await readBytes(request, limit))

/** The bytes of the body, read no further than `limit` bytes. Refuses with 413 above. */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  if (!request.body) return new Uint8Array()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  const reader = request.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > limit) {
      await reader.cancel()
      throw payloadTooLarge(limit)
    }
    chunks.push(value)
  }
  return concatenate(chunks, size)
}

function concatenate(chunks: Uint8Array<ArrayBuffer>[], size: number): Uint8Array<ArrayBuffer> {
  const [first] = chunks
  if (chunks.length === 1 && first) return first
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}

/**
 * Lets the body be read as JSON any number of times, read no further than `limit` bytes; gives the text
 * as it came. No body is an empty object to those who read it as JSON. Refuses with 413 above the limit.
 */
export async function bufferBody(c: Context, limit: number): Promise<string> {
  if (c.req.bodyCache.text !== undefined) return c.req.text()
  const text = await readText(c.req.raw, limit)
  // Hono keeps promises here, whatever its type says.
  Object.assign(c.req.bodyCache, { text: Promise.resolve(text.trim() === '' ? '{}' : text) })
  return text
}

/**
 * The parsed body as an object, normalised. `null` and `[]` are an empty object: clients of the
 * ecosystem send them where nothing is needed. Refuses other values that are no objects with 400.
 */
export function normaliseBody(value: unknown): Record<string, unknown> {
  if (value === null || (Array.isArray(value) && value.length === 0)) return {}
  if (typeof value !== 'object' || Array.isArray(value))
    throw badRequest('The request body must be a JSON object.')
  return normalise(value) as Record<string, unknown>
}

/** Trims strings, turns empty ones into null, and refuses with 400 what no store or reader could take. */
export function normalise(value: object): object {
  const budget = { keys: mostKeys }
  return normaliseMember(value, '', 0, budget) as object
}

function normaliseMember(value: unknown, key: string, depth: number, budget: { keys: number }): unknown {
  if (typeof value === 'string') return normaliseText(value, key)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= deepest) throw badRequest('The request is nested too deeply.')
  if (Array.isArray(value)) {
    spend(budget, value.length)
    return value.map((member) => normaliseMember(member, key, depth + 1, budget))
  }
  const entries = Object.entries(value)
  spend(budget, entries.length)
  return Object.fromEntries(
    entries.map(([name, member]) => {
      if (forbiddenKeys.has(name)) throw badRequest('The request has a key that is not allowed.')
      return [checkText(name), normaliseMember(member, name, depth + 1, budget)]
    }),
  )
}

function spend(budget: { keys: number }, count: number): void {
  budget.keys -= count
  if (budget.keys < 0) throw badRequest('The request has too many members.')
}

function normaliseText(text: string, key: string): string | null {
  checkText(text)
  if (untrimmed.has(key)) return text === '' ? null : text
  const trimmed = text.trim()
  return trimmed === '' ? null : trimmed
}

/** NUL and lone surrogates cannot be stored as text. */
function checkText(text: string): string {
  if (text.includes('\0') || !text.isWellFormed())
    throw badRequest('The request has text that cannot be stored.')
  return text
}
