import type { Context } from 'hono'
import { badRequest } from '../errors.ts'
import { parseBracketNames } from './bracket-names.ts'
import { isSafeMethod } from './csrf.ts'
import { normalise, requireObject, type TextRule } from './normalise.ts'
import { type BodyFormat, bufferBody, isDeclaredAs, isDeclaredJson, parseJson } from './request-body.ts'

/** Bytes of a body unless a route sets another limit. */
export const defaultBodyLimit = 256 * 1024

export type InputOptions = {
  /** Bytes of the body. */
  limit?: number
  /** Reads a body as JSON whatever its content type, unless it is a form. */
  anyType?: boolean
  /** Reads the body or the query alone: a document or a signed message, and what accompanies a raw body. */
  source?: 'body' | 'query' | 'both'
  /** Takes bodies of another format, too. */
  format?: BodyFormat | undefined
  /** Refuses with 400 a request without a body, and `null` in place of one. */
  requiresBody?: boolean
}

/**
 * Reads the input of a request from wherever clients put it: the members of a JSON object, of a form with names in
 * brackets (`limits[memory]`) as `application/x-www-form-urlencoded` or `multipart/form-data`, and under them those
 * of the query. `GET` takes JSON only; other content types have no members. `null` and `[]` are an empty object.
 * Refuses with 413 above the limit, and with 400 what is not as its content type says.
 * Spec: docs/api.md#input.
 */
export async function readInput(
  c: Context,
  { source = 'both', ...options }: InputOptions = {},
): Promise<Record<string, unknown>> {
  const body = source === 'query' ? {} : await readBodyMembers(c, options)
  const query = source === 'body' ? {} : parseQuery(c)
  // Entries, since members of callers are never merged into an object that has others.
  return Object.fromEntries([...Object.entries(query), ...Object.entries(body)])
}

/** Whether a request that reads has no members anywhere, as most have none: that is seen without reading. */
export const hasNoInput = (c: Context): boolean =>
  isSafeMethod(c.req.method) && !c.req.url.includes('?') && !isDeclaredJson(c)

/**
 * Reads the criteria of a list or look-up: the query, on `GET` under the members of a JSON body; other bodies
 * belong to the route. Normalises texts by the rule.
 */
export function readQuery(c: Context, rule?: TextRule): Promise<Record<string, unknown>> {
  if (rule !== undefined) return readCriteria(c, rule)
  return readOnce(c, 'criteria', () => readCriteria(c))
}

/**
 * Reads something of a request once: the route, what it reads, and its includes ask for the same. It is kept with the
 * request: what a `WeakMap` has of one is freed by none of the short collections.
 */
function readOnce<Value>(
  c: Context,
  name: 'criteria' | 'members',
  read: () => Promise<Value>,
): Promise<Value> {
  const known = c.get(name) as Promise<Value> | undefined
  const value = known ?? read()
  if (!known) c.set(name, value)
  return value
}

async function readCriteria(c: Context, rule?: TextRule): Promise<Record<string, unknown>> {
  const source = isSafeMethod(c.req.method) ? 'both' : 'query'
  return normalise(await readInput(c, { source }), rule)
}

/** Reads the members of the body once, with the options of the first call. */
function readBodyMembers(c: Context, options: InputOptions): Promise<Record<string, unknown>> {
  return readOnce(c, 'members', () => parseBody(c, options))
}

async function parseBody(
  c: Context,
  { limit = defaultBodyLimit, anyType = false, requiresBody = false, format }: InputOptions,
): Promise<Record<string, unknown>> {
  const isJson = isDeclaredJson(c)
  if (isSafeMethod(c.req.method) && !isJson) return {}
  const text = await bufferBody(c, limit)
  if (requiresBody && /^\s*(null\s*)?$/.test(text))
    throw badRequest('request_malformed', 'The request must have a body.')
  if (isJson) return requireObject(parseJson(text))
  if (format && isDeclaredAs(c, format)) return requireObject(await format.parse(text))
  const type = c.req.header('content-type') ?? ''
  const isForm = formTypes.test(type)
  // Command-line clients declare JSON as a form unless they are told otherwise.
  if (anyType && (!isForm || /^\s*\{/.test(text))) return requireObject(parseJson(text))
  return isForm ? parseBracketNames(await formFields(text, type), { isStrict: true }) : {}
}

const formTypes = /^\s*(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i

/** Lists the text fields of a form in their order; files are no input here. */
async function formFields(text: string, type: string): Promise<[string, string][]> {
  if (!/multipart/i.test(type)) return [...new URLSearchParams(text.trim())]
  if (text.trim() === '') return []
  const form = await parseMultipart(new TextEncoder().encode(text), type)
  return [...form].filter((field): field is [string, string] => typeof field[1] === 'string')
}

/** Parses a multipart body. Refuses with 400 what is not one. */
export async function parseMultipart(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<FormData> {
  try {
    return await new Response(bytes, { headers: { 'content-type': type } }).formData()
  } catch {
    throw badRequest('request_malformed', 'The request is not a valid multipart body.')
  }
}

function parseQuery(c: Context): Record<string, unknown> {
  const at = c.req.url.indexOf('?')
  return at === -1 ? {} : parseBracketNames(new URLSearchParams(c.req.url.slice(at)), { isStrict: false })
}
