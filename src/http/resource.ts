import * as z from 'zod'
import type { LazySchema } from './metadata.ts'

/** Formats an instant as `YYYY-MM-DDTHH:MM:SS+00:00`, the only format of the wire. */
export const timestamp = (instant: Date) => `${instant.toISOString().slice(0, 19)}+00:00`

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

/** Defines a resource: its name, the schema of its attributes, and how they are made from a row. */
export function resource<Row, Attributes extends object>(
  name: string,
  schema: LazySchema<z.ZodType<Attributes>>,
  attributes: (row: Row) => Attributes,
): Resource<Row, Attributes> {
  const one = (row: Row): Item<Attributes> => ({ object: name, attributes: attributes(row) })
  const list = (rows: Row[]): List<Attributes> => ({ object: 'list', data: rows.map(one) })
  const One = () => z.object({ object: z.literal(name), attributes: schema() })
  const List = () => z.object({ object: z.literal('list'), data: z.array(One()) })
  return {
    name,
    attributes,
    one,
    list,
    page: (page, url) => ({ ...list(page.rows), meta: { pagination: paginationOf(page, url) } }),
    One,
    List,
    Page: () => List().extend({ meta: z.looseObject({ pagination: PaginationShape() }) }),
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
