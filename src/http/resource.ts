import * as z from 'zod'
import type { LazySchema } from './metadata.ts'

const dayMs = 86_400_000
/** Texts of days by their number since 1970: `toISOString` takes ten times as long as the rest. */
const dayTexts = new Map<number, string>()
const maxDayTexts = 1000
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

function dayText(day: number): string {
  const known = dayTexts.get(day)
  if (known !== undefined) return known
  const text = new Date(day * dayMs).toISOString().slice(0, 10)
  if (dayTexts.size >= maxDayTexts) dayTexts.clear()
  dayTexts.set(day, text)
  return text
}

/** Formats an instant as `YYYY-MM-DDTHH:MM:SS+00:00`, the only format of the wire. */
export function timestamp(instant: Date): string {
  const time = instant.getTime()
  const day = Math.floor(time / dayMs)
  const seconds = Math.floor(time / 1000) - day * (dayMs / 1000)
  const minutes = Math.floor(seconds / 60)
  return `${dayText(day)}T${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}+00:00`
}

/** Formats an instant that may be null. */
export const timestampOrNull = (instant: Date | null) => (instant ? timestamp(instant) : null)

/** Schema of a formatted instant. */
export const Timestamp = () => z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)

/** Stands for a relation that is empty or that the caller may not read. */
export const nullResource = { object: 'null_resource', attributes: null } as const

export const NullResource = () => z.object({ object: z.literal('null_resource'), attributes: z.null() })

export type Item<Attributes> = { object: string; attributes: Attributes }
export type List<Attributes> = { object: 'list'; data: Item<Attributes>[] }
export type Pagination = {
  total: number
  count: number
  per_page: number
  current_page: number
  total_pages: number
  links: { previous?: string; next?: string }
}
export type PageOf<Attributes> = List<Attributes> & { meta: { pagination: Pagination } }

/** One page of rows, with what links to the other pages need. */
export type Page<Row> = { rows: Row[]; total: number; page: number; perPage: number }

export type Resource<Row, Attributes> = {
  name: string
  attributes: (row: Row) => Attributes
  one: (row: Row) => Item<Attributes>
  list: (rows: Row[]) => List<Attributes>
  /** `url` is that of the request: links keep its query and change the page. */
  page: (page: Page<Row>, url: string) => PageOf<Attributes>
  One: LazySchema<z.ZodType<Item<Attributes>>>
  List: LazySchema<z.ZodType<List<Attributes>>>
  Page: LazySchema<z.ZodType<PageOf<Attributes>>>
}

/** Returns the schemas of a resource whose texts are written another way. */
export function resourceSchemas<Attributes extends object>(
  name: string,
  schema: LazySchema<z.ZodType<Attributes>>,
): Pick<Resource<unknown, Attributes>, 'One' | 'List' | 'Page'> {
  const One = () => z.object({ object: z.literal(name), attributes: schema() })
  const List = () => z.object({ object: z.literal('list'), data: z.array(One()) })
  return { One, List, Page: () => List().extend({ meta: z.looseObject({ pagination: PaginationShape() }) }) }
}

/** Defines a resource: its name, the schema of its attributes, and how they are made from a row. */
export function resource<Row, Attributes extends object>(
  name: string,
  schema: LazySchema<z.ZodType<Attributes>>,
  attributes: (row: Row) => Attributes,
): Resource<Row, Attributes> {
  const one = (row: Row): Item<Attributes> => ({ object: name, attributes: attributes(row) })
  const list = (rows: Row[]): List<Attributes> => ({ object: 'list', data: rows.map(one) })
  return {
    name,
    attributes,
    one,
    list,
    page: (page, url) => ({ ...list(page.rows), meta: { pagination: paginationOf(page, url) } }),
    ...resourceSchemas(name, schema),
  }
}

/** Schema of the optional `relationships` of a resource. */
export const Relationships = () => z.record(z.string(), z.unknown()).optional()

/** Schema of the pagination of a list. */
export const PaginationShape = () =>
  z.object({
    total: z.int(),
    count: z.int(),
    per_page: z.int(),
    current_page: z.int().min(1),
    total_pages: z.int().min(1),
    links: z.strictObject({ previous: z.url().optional(), next: z.url().optional() }),
  })

/** Builds the pagination in a list's `meta`. */
export function paginationOf(page: Page<unknown>, url: string): Pagination {
  const pages = Math.max(1, Math.ceil(page.total / page.perPage))
  const link = (number: number) => {
    const target = new URL(url)
    target.searchParams.set('page', String(number))
    return target.toString()
  }
  return {
    total: page.total,
    count: page.rows.length,
    per_page: page.perPage,
    current_page: page.page,
    total_pages: pages,
    links: {
      ...(page.page > 1 ? { previous: link(page.page - 1) } : {}),
      ...(page.page < pages ? { next: link(page.page + 1) } : {}),
    },
  }
}
