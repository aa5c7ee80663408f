import { and, type Column, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { type CellStatement, type Cells, keptStatement, prepareCells } from './cell-statements.ts'
import type { Database } from './database.ts'
import { orderOf, pageIds } from './page-ids.ts'
import { elasticTotal, type PageNumbers, type PageShape, type RowPage } from './pagination.ts'
import {
  type Arm,
  maxRelatedRows,
  type RelatedRow,
  type RelatedStatement,
  relatedStatement,
} from './related-statement.ts'
import { type Kind, tables } from './relations.ts'

type Shape = Omit<PageShape<PgTable, never>, 'table' | 'fields'> & {
  /** Names the shape among those of its kind, equal for equal SQL: its statement is built once. */
  name?: string | undefined
}

/**
 * Reads one page of rows of a kind with their included relations, and the number of all matching rows, in one
 * statement. A related row that several rows share is read once, and is one object.
 */
export async function listRows<T>(
  db: Database,
  kind: Kind,
  shape: Shape & PageNumbers & { include: readonly string[] },
): Promise<RowPage<T>> {
  const { page, perPage, include, name } = shape
  const offset = (page - 1) * perPage
  const key = name === undefined ? null : `${kind} ${include.join()} ${perPage} ${offset > 0} ${name}`
  const { statement, maxExactTotal } = keptStatement(db, key, () => {
    const built = pageStatement(kind, shape, { limit: perPage, offset: offset && sql.placeholder('offset') })
    return { ...built, statement: prepareCells(db, built.query) }
  })
  const found = await readRows(relatedStatement(kind, include), statement, { offset })
  const { rows } = found
  const total = elasticTotal({ counted: found.total, maxExactTotal, offset, shown: rows.length, perPage })
  return { rows: rows as T[], total, page, perPage, extraCount: found.extraCount }
}

/** Builds the statement of a page with the related rows of its rows. */
function pageStatement(
  kind: Kind,
  shape: Shape & { include: readonly string[] },
  limits: { limit: number; offset: number | Placeholder },
): { query: SQL; maxExactTotal: number } {
  const table = tables[kind] as PgTable & { id: Column }
  const { few, total, ids, maxExactTotal } = pageIds({ ...shape, table }, limits)
  const order = orderOf({ ...shape, table })
  const search = few ? sql`few as materialized (${few}), ` : sql.empty()
  const counted = sql`select ${total}::int as total, ${shape.extraCount ?? sql`0`} as extra_count`
  const page =
    shape.orderBy?.length || shape.source || few
      ? sql`select ${table}.* from (${ids}) ids inner join ${table} on ${table.id} = ids.page_id order by ${order}`
      : pageById(table, shape.where, limits)
  const { text } = relatedStatement(kind, shape.include)
  return {
    query: sql`with ${search}counted as materialized (${counted}), page as materialized (${page})${sql.raw(text)}`,
    maxExactTotal,
  }
}

/** Selects a page in the order of ids: an index alone finds its first id, and its rows are neighbours. */
function pageById(
  table: PgTable & { id: Column },
  where: SQL | undefined,
  { limit, offset }: { limit: number; offset: number | Placeholder },
): SQL {
  const first = sql`select ${table.id} from ${table} where ${where ?? true} order by ${table.id} limit 1 offset ${offset}`
  const begins = offset === 0 ? undefined : sql`${table.id} >= (${first})`
  return sql`select * from ${table} where ${and(where, begins) ?? true} order by ${table.id} limit ${sql.raw(String(limit))}`
}

/** Finds the row of a kind for which `where` holds with its included relations, or null. One statement. */
export async function findRow<T>(
  db: Database,
  kind: Kind,
  where: SQL | undefined,
  include: readonly string[] = [],
): Promise<T | null> {
  const table = tables[kind]
  const related = relatedStatement(kind, include)
  const statement = prepareCells(
    db,
    sql`with counted as materialized (select 0 as total, 0 as extra_count),
      page as materialized (select ${table}.* from ${table} where ${where} limit 1)${sql.raw(related.text)}`,
  )
  const { rows } = await readRows(related, statement, {})
  return (rows[0] as T | undefined) ?? null
}

/** Runs the statement and links the rows of all relations. */
async function readRows(
  { arms }: RelatedStatement,
  statement: CellStatement,
  values: Record<string, unknown>,
): Promise<{ rows: RelatedRow[]; total: number; extraCount: number }> {
  const rows = new Map<Arm, RelatedRow[]>(arms.map((arm) => [arm, []]))
  let counts: Cells = []
  for (const cells of await statement.execute(values)) {
    const arm = arms[Number(cells[0])]
    if (arm) rows.get(arm)?.push(arm.decode(cells))
    else counts = cells
  }
  for (const arm of arms) {
    if (arm.relation) linkRows(arm.relation, rows.get(arm.relation.parent) ?? [], rows.get(arm) ?? [])
  }
  const [root] = arms
  return {
    rows: (root && rows.get(root)) ?? [],
    total: Number(counts[1]),
    extraCount: Number(counts[2]),
  }
}

/** Puts related rows into their parents, lists by id. */
function linkRows(
  { name, relation }: NonNullable<Arm['relation']>,
  parents: RelatedRow[],
  related: RelatedRow[],
): void {
  const { isMany, isUnbounded, field, relatedField } = relation
  if (!isMany) {
    const byId = new Map(related.map((row) => [row.id, row]))
    for (const parent of parents) parent[name] = byId.get(parent[field]) ?? null
    return
  }
  const lists = Map.groupBy(related, (row) => row[isUnbounded ? 'parentId' : relatedField])
  for (const parent of parents) parent[name] = lists.get(parent[field]) ?? []
  if (!isUnbounded) return
  truncate(name, parents, related.length > maxRelatedRows.ofAnswer)
  for (const list of lists.values()) list.sort((left, right) => Number(left.id) - Number(right.id))
}

/**
 * Removes the rows beyond the limits and notes which parents have more of them. Parents behind the one where the answer
 * is full have none.
 */
function truncate(name: string, parents: RelatedRow[], isFull: boolean): void {
  const last = isFull
    ? parents.findLastIndex((parent) => (parent[name] as RelatedRow[]).length > 0)
    : parents.length
  for (const [at, parent] of parents.entries()) {
    const list = parent[name] as RelatedRow[]
    const hasMore = list.length > maxRelatedRows.ofParent
    if (!hasMore && at < last) continue
    if (hasMore || at === last) list.pop()
    parent.truncated = [...(parent.truncated ?? []), name]
  }
}
