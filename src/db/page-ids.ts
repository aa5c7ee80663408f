import { and, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { PageShape } from './pagination.ts'

type Shape = Omit<PageShape<PgTable, Record<string, SQL>>, 'fields'>
type Limits = { limit: number | Placeholder; offset: number | Placeholder }

/** Totals are exact up to this number of rows, unless a list says otherwise. */
const defaultMaxExactTotal = 10_000
/** Matches of a search are counted exactly up to here: each further one costs a look at its row. */
const maxExactMatches = 1000

/** The parts of a statement that reads a page. */
export type PageIds = {
  /** The CTE `few` of a search, with which `ids` also needs the CTE `counted` with `total`; null without a search. */
  few: SQL | null
  /** The number of rows, up to one beyond `maxExactTotal`, in parentheses. */
  total: SQL
  /** Selects `page_id` of the rows of the page. */
  ids: SQL
  maxExactTotal: number
}

/** Builds the parts of a statement that reads a page by its ids: to pass over earlier rows, an index is enough. */
export const pageIds = (shape: Shape, limits: Limits): PageIds =>
  shape.search ? searchedIds(shape, limits) : orderedIds(shape, limits)

/** The order of a page: by id where nothing else decides. */
export const orderOf = ({ table, orderBy = [] }: Pick<Shape, 'table' | 'orderBy'>): SQL =>
  sql.join([...orderBy, sql`${table.id} asc`], sql`, `)

const fromOf = ({ table, source }: Shape, condition: SQL | undefined): SQL =>
  sql`${source ?? table}${condition ? sql` where ${condition}` : sql.empty()}`

/** A number of rows is part of the text, so that PostgreSQL plans for as many rows and keeps the plan. */
const limitSql = ({ limit, offset }: Limits): SQL =>
  sql`limit ${typeof limit === 'number' ? literal(limit) : limit}${offset === 0 ? sql.empty() : sql` offset ${offset}`}`
const literal = (number: number): SQL => sql.raw(String(number))

function orderedIds(shape: Shape, limits: Limits): PageIds {
  const { table, where, maxExactTotal = defaultMaxExactTotal } = shape
  const from = fromOf(shape, where)
  return {
    few: null,
    ids: sql`select ${table.id} as page_id from ${from} order by ${orderOf(shape)} ${limitSql(limits)}`,
    total: sql`(select count(*) from (select 1 from ${from} limit ${literal(maxExactTotal + 1)}) few)`,
    maxExactTotal,
  }
}

function searchedIds(shape: Shape, limits: Limits): PageIds {
  const { table } = shape
  const from = fromOf(shape, and(shape.where, shape.search))
  return {
    few: sql`select ${table.id} as few_id from ${from} limit ${literal(maxExactMatches + 1)}`,
    ids: sql`(${fewIds(shape, limits)}) union all (${manyIds(shape, from, limits)})`,
    total: sql`(select count(*) from few)`,
    maxExactTotal: maxExactMatches,
  }
}

/** Orders the matches when all of them were found. */
function fewIds(shape: Shape, limits: Limits): SQL {
  const { table, orderBy = [] } = shape
  const isComplete = sql`(select total from counted) <= ${literal(maxExactMatches)}`
  return orderBy.length === 0
    ? sql`select few_id as page_id from few where ${isComplete} order by few_id ${limitSql(limits)}`
    : sql`select ${table.id} as page_id from few join ${table} on ${table.id} = few_id
        where ${isComplete} order by ${orderOf(shape)} ${limitSql(limits)}`
}

/** Walks the rows in their order when there are more matches: the page is full soon. */
function manyIds(shape: Shape, from: SQL, limits: Limits): SQL {
  const { table, first } = shape
  const order = orderOf(shape)
  const matches = sql`from ${from} and (select total from counted) > ${literal(maxExactMatches)}`
  if (!first) return sql`select ${table.id} as page_id ${matches} order by ${order} ${limitSql(limits)}`
  return sql`select page_id from (
    (select ${table.id} as page_id, 0 as rank, row_number() over (order by ${order}) as position ${matches} and ${first})
    union all
    (select ${table.id}, 1, row_number() over (order by ${table.id}) ${matches} and (${first}) is not true
      order by ${table.id} limit ${limits.limit}::bigint + ${limits.offset}::bigint)
  ) ranked order by rank, position ${limitSql(limits)}`
}
