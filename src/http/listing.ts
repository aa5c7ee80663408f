import type { Context, MiddlewareHandler } from 'hono'
import * as z from 'zod'
import { type ApiError, badRequest, invalid } from '../errors.ts'
import type { HttpEnv } from './http-env.ts'
import { hasNoInput, readInput, readQuery } from './input.ts'
import { type LazySchema, withMetadata } from './metadata.ts'
import { invalidInput } from './route.ts'
import { describeFailure, ruleName } from './validation-rules.ts'

/** The page to read, with validated names of filters and sorts. */
export type ListQuery = {
  page: number
  perPage: number
  /** Alternatives by field; all fields must match. */
  filters: Record<string, string[]>
  sorts: { field: string; descending: boolean }[]
  search: string | null
}

export type ListingOptions = {
  filters?: readonly string[]
  /** Values of `type`; the route reads it itself. */
  types?: readonly string[]
  /** Without it `sort` is ignored. */
  sorts?: readonly string[]
  perPage: number
  maxPerPage: number
  /** Whether the list takes `search`, of at most 100 characters. */
  hasSearch?: boolean
  /** Validates the query, and refuses numbers out of bounds with 422. */
  schema?: LazySchema
}

/** The query of a list as a typed client writes it. */
export type ListInput<Options extends ListingOptions> = {
  page?: number
  per_page?: number
  sort?: string
  search?: string
  include?: string
} & (Options extends { types: readonly (infer Type)[] } ? { type?: Type } : {}) &
  (Options extends { filters: readonly (infer Name extends string)[] }
    ? { [Filter in `filter[${Name}]`]?: string }
    : {})

const maxPage = 10_000_000
const maxSearchLength = 100

/**
 * Reads `page`, `per_page`, `filter[…]`, `sort` and `search` of a list.
 *
 * Refuses unknown filters and sorts with 400, and names the allowed ones. Brings numbers out of bounds into them,
 * as clients of the ecosystem expect, unless `schema` refuses them with 422.
 */
export function listing<const Options extends ListingOptions>(
  options: Options,
): MiddlewareHandler<HttpEnv, string, { in: { query: ListInput<Options> }; out: { query: ListQuery } }> {
  const schema = options.schema ?? (() => ListingSchema(options))
  const read = listingReader(options)
  return withMetadata({ kind: 'input', target: 'query', schema }, async (c, next) => {
    c.req.addValidatedData('query', read(await readQuery(c)))
    await next()
  })
}

/**
 * Returns the function that reads a parsed query as `listing` does; it builds the schema once. Unknown names are refused
 * before what does not fit the schema.
 */
export function listingReader(options: ListingOptions): (query: Record<string, unknown>) => ListQuery {
  let schema: z.ZodType | undefined
  let defaults: ListQuery | undefined
  const readAny = (query: Record<string, unknown>) => {
    const listing = readListing(options, query)
    schema ??= options.schema?.()
    const result = schema?.safeParse(query, { error: (issue) => ruleName(issue) })
    if (result?.success === false) throw invalidInput(result.error.issues)
    return listing
  }
  // Most requests say nothing.
  return (query) => (Object.keys(query).length > 0 ? readAny(query) : (defaults ??= readAny(query)))
}

/** Reads a parsed query as `listing` does, without the schema. */
export function readListing(options: ListingOptions, query: Record<string, unknown>): ListQuery {
  return {
    page: clampedInteger(query.page, 1, maxPage, 1),
    perPage: clampedInteger(query.per_page, 1, options.maxPerPage, options.perPage),
    filters: readFilters(options.filters ?? [], query.filter),
    sorts: options.sorts ? readSorts(options.sorts, query.sort) : [],
    search: options.hasSearch ? readSearch(query.search) : null,
  }
}

/** Reads the relations that the request asks for by `include`. */
export const readIncludes = async (c: Context): Promise<string[]> =>
  hasNoInput(c) ? [] : parseIncludes((await readInput(c)).include)

/** Parses a comma list or an array of paths, such as `user` and `servers.user`: two levels, at most 50 of them. */
export function parseIncludes(value: unknown): string[] {
  return [value]
    .flat()
    .filter((part) => typeof part === 'string')
    .flatMap((part) => part.split(','))
    .map((name) => name.trim().split('.').slice(0, 2).join('.'))
    .filter((name) => name !== '')
    .slice(0, 50)
}

function readFilters(allowed: readonly string[], value: unknown): Record<string, string[]> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  const filters: Record<string, string[]> = {}
  for (const [field, values] of Object.entries(value)) {
    if (!allowed.includes(field)) throw unknownNameError('filter', field, allowed, 'InvalidFilterQuery')
    if (values === null) continue
    const text = typeof values === 'number' || typeof values === 'boolean' ? String(values) : values
    if (typeof text !== 'string')
      throw badRequest('request_malformed', `The filter "${field}" must be a string.`, {
        values: { name: field },
      })
    filters[field] = text
      .slice(0, 255)
      .split(',')
      .filter((part) => part !== '')
  }
  return filters
}

function readSorts(allowed: readonly string[], value: unknown): ListQuery['sorts'] {
  if (typeof value !== 'string') return []
  return value
    .split(',')
    .filter(Boolean)
    .map((part) => {
      const descending = part.startsWith('-')
      const field = descending ? part.slice(1) : part
      if (!allowed.includes(field)) throw unknownNameError('sort', field, allowed, 'InvalidSortQuery')
      return { field, descending }
    })
}

function readSearch(value: unknown): string | null {
  if (value === undefined || value === null) return null
  const rule = typeof value !== 'string' ? 'string' : value.length > maxSearchLength ? 'max' : null
  if (rule)
    throw invalid([
      {
        field: 'search',
        rule,
        detail: describeFailure('search', rule, { maximum: maxSearchLength }),
        values: { maximum: maxSearchLength },
      },
    ])
  return value as string
}

function unknownNameError(
  kind: 'filter' | 'sort',
  name: string,
  allowed: readonly string[],
  code: string,
): ApiError {
  return badRequest(
    kind === 'filter' ? 'filter_unknown' : 'sort_unknown',
    `The ${kind} "${name.slice(0, 64)}" is not allowed. Allowed: ${allowed.join(', ')}.`,
    { code, values: { name: name.slice(0, 64), allowed: allowed.join(', ') } },
  )
}

function clampedInteger(value: unknown, min: number, max: number, fallback: number): number {
  const text = typeof value === 'number' ? String(value) : value
  const number = typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(number) || number < min) return fallback
  return Math.min(number, max)
}

const broughtIntoRange = 'another value is brought into that range'
const anyNumber = (fallback: number) => ({ type: ['integer', 'string'], default: fallback })

/** A text that may be blank. */
const anyText = (maximum?: number) =>
  z
    .string()
    .optional()
    .meta({ acceptedAs: { type: 'string', ...(maximum === undefined ? {} : { maxLength: maximum }) } })

/** Names of sorts, separated by commas, each of them descending with a minus. */
const sortText = (names: readonly string[]) =>
  z
    .string()
    .optional()
    .meta({ acceptedAs: { type: 'string', pattern: `^\\s*(?:(?:-?(?:${names.join('|')}))?(?:,|\\s*$))*$` } })

const ListingSchema = (options: ListingOptions) =>
  z.object({
    page: z
      .int()
      .min(1)
      .optional()
      .describe(`From 1; ${broughtIntoRange}`)
      .meta({ acceptedAs: anyNumber(1) }),
    per_page: z
      .int()
      .min(1)
      .max(options.maxPerPage)
      .optional()
      .describe(`From 1 to ${options.maxPerPage}; ${broughtIntoRange}`)
      .meta({ acceptedAs: anyNumber(options.perPage) }),
    ...(options.filters?.length
      ? {
          filter: z.object(Object.fromEntries(options.filters.map((name) => [name, anyText()]))).optional(),
        }
      : {}),
    ...(options.sorts?.length ? { sort: sortText(options.sorts) } : {}),
    ...(options.types
      ? {
          type: anyText().describe(`One of ${options.types.join(', ')}; others are ignored`),
        }
      : {}),
    ...(options.hasSearch ? { search: anyText(maxSearchLength) } : {}),
    include: anyText(),
  })
