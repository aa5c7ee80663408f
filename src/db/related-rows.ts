import { type Column, type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { type Database, rowsOf } from './database.ts'
import { orderOf, pageIds } from './page-ids.ts'
import { elasticTotal, type PageNumbers, type PageShape, type RowPage } from './pagination.ts'
import { type Arm, maxRelatedRows, relatedStatement } from './related-statement.ts'
import { type Kind, tables } from './relations.ts'

/** A row with the rows of its relations under their names, and the names of relations that have more rows. */
type Row = { [field: string]: unknown; truncated?: string[] }
type Cells = { number: number; [cell: `c${number}`]: string | null }

type Shape = Omit<PageShape<PgTable, never>, 'table' | 'fields'>

/**
 * Reads one page of rows of a kind with their included relations, and the number of all matching rows, in one
 * statement. A related row that several rows share is read once, and is one object.
 */
export async function listRows<T>(
  db: Database,
  kind: Kind,
  shape: Shape & PageNumbers & { include: readonly string[] },
): Promise<RowPage<T>> {
  const { page, perPage, include, extraCount } = shape
  const table = tables[kind] as PgTable & { id: Column }
  const offset = (page - 1) * perPage
  const { few, total: counted, ids, maxExactTotal } = pageIds({ ...shape, table }, { limit: perPage, offset })
  const order = orderOf({ ...shape, table })
  const found = await readRows(db, kind, include, {
    few,
    counted: sql`select ${counted}::int as total, ${extraCount ?? sql`0`} as extra_count`,
    page: sql`select ${table}.* from (${ids}) ids inner join ${table} on ${table.id} = ids.page_id order by ${order}`,
  })
  const { rows } = found
  const total = elasticTotal({ counted: found.total, maxExactTotal, offset, shown: rows.length, perPage })
  return { rows: rows as T[], total, page, perPage, extraCount: found.extraCount }
}

/** Finds the row of a kind for which `where` holds with its included relations, or null. One statement. */
export async function findRow<T>(
  db: Database,
  kind: Kind,
  where: SQL | undefined,
  include: readonly string[] = [],
): Promise<T | null> {
  const table = tables[kind]
  const { rows } = await readRows(db, kind, include, {
    counted: sql`select 0 as total, 0 as extra_count`,
    page: sql`select ${table}.* from ${table} where ${where} limit 1`,
  })
  return (rows[0] as T | undefined) ?? null
}

async function readRows(
  db: Database,
  kind: Kind,
  include: readonly string[],
  { few = null, counted, page }: { few?: SQL | null; counted: SQL; page: SQL },
): Promise<{ rows: Row[]; total: number; extraCount: number }> {
  const { arms, text } = relatedStatement(kind, include)
  const search = few ? sql`few as materialized (${few}), ` : sql.empty()
  const result = await db.execute(
    sql`with ${search}counted as materialized (${counted}), page as materialized (${page})${sql.raw(text)}`,
  )
  const cells = Map.groupBy(rowsOf<Cells>(result), ({ number }) => number)
  const rows = new Map<Arm, Row[]>()
  for (const arm of arms)
    rows.set(
      arm,
      (cells.get(arm.number) ?? []).map((row) => decodeRow(arm, row)),
    )
  for (const arm of arms) {
    if (arm.relation) linkRows(arm.relation, rows.get(arm.relation.parent) ?? [], rows.get(arm) ?? [])
  }
  const [counts] = cells.get(-1) ?? []
  const [root] = arms
  return {
    rows: (root && rows.get(root)) ?? [],
    total: Number(counts?.c0),
    extraCount: Number(counts?.c1),
  }
}

function decodeRow({ fields, decoders }: Arm, cells: Cells): Row {
  const row: Row = {}
  for (let at = 0; at < fields.length; at += 1) {
    const cell = cells[`c${at}`] ?? null
    row[fields[at] as string] = cell === null ? null : decoders[at]?.(cell)
  }
  return row
}

/** Puts related rows into their parents, lists by id. */
function linkRows({ name, relation }: NonNullable<Arm['relation']>, parents: Row[], related: Row[]): void {
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
function truncate(name: string, parents: Row[], isFull: boolean): void {
  const last = isFull ? parents.findLastIndex((parent) => (parent[name] as Row[]).length > 0) : parents.length
  for (const [at, parent] of parents.entries()) {
    const list = parent[name] as Row[]
    const hasMore = list.length > maxRelatedRows.ofParent
    if (!hasMore && at < last) continue
    if (hasMore || at === last) list.pop()
    parent.truncated = [...(parent.truncated ?? []), name]
  }
}
