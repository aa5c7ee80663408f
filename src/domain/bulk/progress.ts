import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import { paginate, type PageNumbers, type RowPage } from '../../db/pagination.ts'
import { bulkItems, bulkOperations, servers } from '../../db/schema.ts'
import { type BulkItem, bulkItemStates } from '../../db/tables/bulk-items.ts'
import type { BulkOperation } from '../../db/tables/bulk-operations.ts'
import { notFound } from '../../errors.ts'
import type { Tx } from '../../panel.ts'

/** An operation with its servers by id; `name` is null for those that do not exist. */
export type BulkProgress = { operation: BulkOperation; items: (BulkItem & { name: string | null })[] }

/** How many servers of an operation are in each state. */
export type BulkTotals = Record<BulkItem['state'], number>
export type CountedBulkOperation = BulkOperation & { totals: BulkTotals }

const totals = sql`(select json_build_object(${sql.join(
  bulkItemStates.map((state) => sql.raw(`'${state}', count(*) filter (where state = '${state}')`)),
  sql`, `,
)}) from ${bulkItems} where ${bulkItems.operationId} = ${bulkOperations.id})` as SQL<BulkTotals>

/** Lists one page of bulk operations, the newest first, with how far each is. */
export const listBulkOperations = (
  { db }: Tx,
  { page, perPage }: PageNumbers,
): Promise<RowPage<CountedBulkOperation>> =>
  paginate(db, {
    page,
    perPage,
    table: bulkOperations,
    orderBy: [desc(bulkOperations.id)],
    fields: { totals },
  })

/** Finds a bulk operation with what happened to each server. Refuses with 404. */
export async function findBulkOperation(tx: Tx, id: number): Promise<BulkProgress> {
  const rows = await tx.db
    .select({ operation: bulkOperations, item: bulkItems, name: sql<string | null>`${servers.name}` })
    .from(bulkOperations)
    .innerJoin(bulkItems, eq(bulkItems.operationId, bulkOperations.id))
    .leftJoin(servers, and(eq(servers.id, bulkItems.serverId)))
    .where(eq(bulkOperations.id, id))
    .orderBy(bulkItems.serverId)
  const [first] = rows
  if (!first) throw notFound()
  return { operation: first.operation, items: rows.map(({ item, name }) => ({ ...item, name })) }
}
