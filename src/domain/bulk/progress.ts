import { and, eq, sql } from 'drizzle-orm'
import { bulkItems, bulkOperations, servers } from '../../db/schema.ts'
import type { BulkItem } from '../../db/tables/bulk-items.ts'
import type { BulkOperation } from '../../db/tables/bulk-operations.ts'
import { notFound } from '../../errors.ts'
import type { Tx } from '../../panel.ts'

/** An operation with its servers by id; `name` is null for those that do not exist. */
export type BulkProgress = { operation: BulkOperation; items: (BulkItem & { name: string | null })[] }

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
