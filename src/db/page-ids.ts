import { and, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { plannedForValues } from './database.ts'
import type { PageShape } from './pagination.ts'

type Shape = Omit<PageShape<PgTable, Record<string, SQL>>, 'fields'>
type Limits = { limit: number | Placeholder; offset: number | Placeholder }

/** As `maxExactTotal` it counts exactly at any size; as `perPage` it is one page with everything. */
export const unlimitedCount = 2_147_483_647

/** Totals are exact up to this number of rows, unless a list says otherwise. */
const defaultMaxExactTotal = 10_000
/** Matches of a search are counted exactly up to here: each further one costs a look at its row. */
const maxExactMatches = 1000
/** Rows between two matches, up to which the page is found by walking the rows in their order. */
const maxRowsPerMatch = 200
/** Matches farther apart are all found and ordered, up to so many. */
const maxSparseMatches = 10_000

/** The parts of a statement that reads a page. */
export type PageIds = {
  /** The CTE `sources` of a shape with a source, which the others need; null without one. */
  sources: SQL | null
  /** The CTE `few` of a search, with which `ids` also needs the CTE `counted` with `total`; null without a search. */
  few: SQL | null
  /** The number of rows, up to one beyond `maxExactTotal`, in parentheses. */
  total: SQL
  /** Selects `page_id` of the rows of the page, and the further columns of a source. */
  ids: SQL
  maxExactTotal: number
}

/** Builds the parts of a statement that reads a page by its ids: to pass over earlier rows, an index is enough. */
export const pageIds = (shape: Shape, limits: Limits): PageIds =>
  shape.search ? searchedIds(shape, limits) : orderedIds(shape, limits)

/** The order of a page: by id where nothing else decides. */
export const orderOf = ({ table, orderBy = [] }: Pick<Shape, 'table' | 'orderBy'>): SQL =>
  sql.join([...orderBy, sql`${table.id} asc`], sql`, `)

const fromOf = ({ table }: Shape, condition: SQL | undefined): SQL =>
  sql`${table}${condition ? sql` where ${condition}` : sql.empty()}`

/** A number of rows is part of the text, so that PostgreSQL plans for as many rows and keeps the plan. */
const limitSql = ({ limit, offset }: Limits): SQL =>
  sql`limit ${typeof limit === 'number' ? literal(limit) : limit}${offset === 0 ? sql.empty() : sql` offset ${offset}`}`
const literal = (number: number): SQL => sql.raw(String(number))

function orderedIds(shape: Shape, limits: Limits): PageIds {
  const { where, source, maxExactTotal = defaultMaxExactTotal } = shape
  if (source)
    return {
      sources: source,
      few: null,
      ids: sql`select id as page_id, sources.* from sources order by id ${limitSql(limits)}`,
      total: sql`(select count(*) from sources)`,
      maxExactTotal: unlimitedCount,
    }
  const from = fromOf(shape, where)
  return {
    sources: null,
    few: null,
    ids: walkedIds(shape, where, limits),
    total: sql`(select count(*) from (select 1 from ${from} limit ${literal(maxExactTotal + 1)}) few)`,
    maxExactTotal,
  }
}

/** Walks the rows in their order: along an index of the table, or as the shape says. */
function walkedIds(shape: Shape, condition: SQL | undefined, limits: Limits): SQL {
  const { table, walk } = shape
  if (walk) return walk(condition, { limit: numberSql(limits.limit), offset: numberSql(limits.offset) })
  return sql`select ${table.id} as page_id from ${fromOf(shape, condition)} order by ${orderOf(shape)} ${limitSql(limits)}`
}

const numberSql = (number: number | Placeholder): SQL =>
  typeof number === 'number' ? literal(number) : sql`${number}::bigint`

function searchedIds(shape: Shape, limits: Limits): PageIds {
  const { table } = shape
  const from = fromOf(shape, and(shape.where, shape.search))
  const matches = (limit: number) =>
    sql`select ${table.id} as found_id from ${from} limit ${literal(limit + 1)}`
  const isMany = sql`(select total from counted) > ${literal(maxExactMatches)}`
  const isSparse = sql`(select max(found_id) - min(found_id) from few) > ${literal(maxExactMatches * maxRowsPerMatch)}`
  // Only numbers say how far rows are from each other.
  const more = table.id.dataType === 'number' ? sql`${isMany} and ${isSparse}` : sql`false`
  const isFound = sql`(select count(*) from more) between 1 and ${literal(maxSparseMatches)}`
  return {
    sources: null,
    few: sql`${sql.raw(plannedForValues)} ${matches(maxExactMatches)}`,
    ids: sql`with more as materialized (select found_id from (${matches(maxSparseMatches)}) sparse where ${more})
      (${foundIds(shape, { found: sql`few`, isComplete: sql`not ${isMany}` }, limits)})
      union all (${foundIds(shape, { found: sql`more`, isComplete: isFound }, limits)})
      union all (${manyIds(shape, sql`${isMany} and not ${isFound}`, limits)})`,
    total: sql`(select count(*) from few)`,
    maxExactTotal: maxExactMatches,
  }
}

/** Orders the matches when all of them were found. */
function foundIds(shape: Shape, { found, isComplete }: { found: SQL; isComplete: SQL }, limits: Limits): SQL {
  const { table, orderBy = [] } = shape
  return orderBy.length === 0
    ? sql`select found_id as page_id from ${found} where ${isComplete} order by found_id ${limitSql(limits)}`
    : sql`select ${table.id} as page_id from ${found} join ${table} on ${table.id} = found_id
        where ${isComplete} order by ${orderOf(shape)} ${limitSql(limits)}`
}

/** Walks the rows in their order when there are more matches: the page is full soon. */
function manyIds(shape: Shape, isMany: SQL, limits: Limits): SQL {
  const { table, first } = shape
  const order = orderOf(shape)
  const matches = sql`from ${fromOf(shape, and(shape.where, shape.search, isMany))}`
  if (!first) return walkedIds(shape, and(shape.where, shape.search, isMany), limits)
  return sql`select page_id from (
    (select ${table.id} as page_id, 0 as rank, row_number() over (order by ${order}) as position ${matches} and ${first})
    union all
    (select ${table.id}, 1, row_number() over (order by ${table.id}) ${matches} and (${first}) is not true
      order by ${table.id} limit ${limits.limit}::bigint + ${limits.offset}::bigint)
  ) ranked order by rank, position ${limitSql(limits)}`
}
