import { eq } from 'drizzle-orm'
import { bulkOperations } from '../../db/schema.ts'
import { conflict, notFound } from '../../errors.ts'
import { inTransaction, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { failPending, finishOperation } from './items.ts'

const cancelled = conflict('bulk_cancelled', 'The operation was cancelled before this server.', {
  code: 'BulkOperationCancelledException',
})

/**
 * Cancels what a bulk operation has not begun: these servers fail, and those that it works on are finished. Refuses
 * with 404, with 409 when nothing is left. Records `admin:bulk.cancel`. Spec: docs/servers.md#bulk-actions.
 */
export async function cancelBulkOperation(panel: Tx, id: number): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const [operation] = await tx.db
      .select()
      .from(bulkOperations)
      .where(eq(bulkOperations.id, id))
      .for('update')
    if (!operation) throw notFound()
    const servers = await failPending(tx, id, cancelled)
    if (servers === 0) throw conflict('bulk_begun', 'Every server of the operation has been begun.')
    await finishOperation(tx, id)
    await recordEvent(tx, 'admin:bulk.cancel', { properties: { action: operation.action, servers } })
  })
}
