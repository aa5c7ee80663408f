import { zValidator } from '@hono/zod-validator'
import type { MiddlewareHandler } from 'hono'
import * as z from 'zod'
import { badRequest, invalid } from '../errors.ts'
import type { HttpEnv } from './environment.ts'
import { type Lazy, stating } from './facts.ts'
import { parseQuery } from './query-string.ts'
import { invalidInput } from './route.ts'
import { describeFailure, ruleOf } from './rules.ts'

/** One page asked for, with validated names of filters and sorts. */
export type ListQuery = {
  page: number
  perPage: number
  /** Field → alternatives; several fields must all match. */
  filters: Record<string, string[]>
  sorts: { field: string; descending: boolean }[]
  search: string | null
}

export type ListingOptions = {
  filters?: readonly string[]
  /** Left out: `sort` is ignored. */
  sorts?: readonly string[]
  perPage: number
  mostPerPage: number
  /** Whether `search` is taken: at most 100 characters. */
  hasSearch?: boolean
  /** What the query must fit, where numbers out of bounds are refused as well: with 422. */
  schema?: Lazy
}

const deepestPage = 10_000_000
const longestSearch = 100

/**
 * `page`, `per_page`, `filter[…]` and `sort` of a list.
 *
 * Refuses unknown filters and sorts with 400, naming the allowed ones; numbers out of bounds are
 * brought into them, as clients of the ecosystem expect, unless `schema` refuses them.
 */
export function listing(
  options: ListingOptions,
): MiddlewareHandler<HttpEnv, string, { in: { query: object }; out: { query: ListQuery } }> {
  const validator = zValidator('query', z.record(z.string(), z.unknown()), undefined, {
    validationFunction: (_schema, flat) => ({
      success: true as const,
      data: readFitting(options, parseQuery(flat)) as never,
    }),
  })
  const schema = options.schema ?? (() => ListingSchema(options))
  return stating({ kind: 'input', place: 'query', schema }, validator) as never
}

/** Names that nobody knows come first, then what does not fit the schema. */
function readFitting(options: ListingOptions, query: Record<string, unknown>): ListQuery {
  const listing = readListing(options, query)
  const result = options.schema?.().safeParse(query, { error: (issue) => ruleOf(issue) })
  if (result?.success === false) throw invalidInput(result.error.issues)
  return listing
}

/** What `listing` makes of a parsed query. */
export function readListing(options: ListingOptions, query: Record<string, unknown>): ListQuery {
  return {
    page: wholeNumber(query.page, 1, deepestPage, 1),
    perPage: wholeNumber(query.per_page, 1, options.mostPerPage, options.perPage),
    filters: readFilters(options.filters ?? [], query.filter),
    sorts: options.sorts ? readSorts(options.sorts, query.sort) : [],
    search: options.hasSearch ? readSearch(query.search) : null,
  }
}

/** Names of `include`, as a comma list or an array; dotted ones reach two levels deep. */
export function readIncludes(value: unknown): string[] {
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
  for (const [field, wanted] of Object.entries(value)) {
    if (!allowed.includes(field)) throw unknownName('filter', field, allowed, 'InvalidFilterQuery')
    if (wanted === null) continue
    if (typeof wanted !== 'string') throw badRequest(`The filter "${field}" must be a string.`)
    filters[field] = wanted
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
      if (!allowed.includes(field)) throw unknownName('sort', field, allowed, 'InvalidSortQuery')
      return { field, descending }
    })
}

function readSearch(value: unknown): string | null {
  if (value === undefined || value === null) return null
  const rule = typeof value !== 'string' ? 'string' : value.length > longestSearch ? 'max' : null
  if (rule)
    throw invalid([
      { field: 'search', rule, detail: describeFailure('search', rule, { maximum: longestSearch }) },
    ])
  return value as string
}

function unknownName(kind: string, name: string, allowed: readonly string[], code: string): Error {
  return badRequest(
    `The ${kind} "${name.slice(0, 64)}" is not allowed. Allowed: ${allowed.join(', ')}.`,
    code,
  )
}

function wholeNumber(value: unknown, least: number, most: number, otherwise: number): number {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
  if (Number.isNaN(number) || number < least) return otherwise
  return Math.min(number, most)
}

const ListingSchema = (options: ListingOptions) =>
  z.object({
    page: z.int().min(1).optional(),
    per_page: z.int().min(1).max(options.mostPerPage).optional(),
    ...(options.filters?.length
      ? {
          filter: z
            .object(Object.fromEntries(options.filters.map((name) => [name, z.string().optional()])))
            .optional(),
        }
      : {}),
    ...(options.sorts?.length ? { sort: z.string().optional() } : {}),
    ...(options.hasSearch ? { search: z.string().max(longestSearch).optional() } : {}),
    include: z.string().optional(),
  })
