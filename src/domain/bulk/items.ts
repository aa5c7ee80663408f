import { and, eq, inArray, notExists, sql, type SQL } from 'drizzle-orm'
import { bulkItems, bulkOperations, servers } from '../../db/schema.ts'
import type { BulkItem } from '../../db/tables/bulk-items.ts'
import type { BulkAction, BulkOperation } from '../../db/tables/bulk-operations.ts'
import { ApiError } from '../../errors.ts'
import type { Tx } from '../../panel.ts'

/** Actions that are not repeated when the panel ended while it did them. */
const onceOnly: ReadonlySet<BulkAction> = new Set(['power', 'reinstall', 'transfer'])
const maxDetailLength = 1000

const unknownOutcome = new ApiError(500, [
  {
    code: 'UnknownOutcomeException',
    detail: 'The panel ended while it did this. Look whether it was done.',
    meta: { reason: 'outcome_unknown' },
  },
])
const unexpectedFailure = new ApiError(500, [
  { code: 'InternalServerError', detail: 'The panel failed to do this.', meta: { reason: 'panel_failed' } },
])

const inState = (operationId: number, state: BulkItem['state'], condition?: SQL) =>
  and(eq(bulkItems.operationId, operationId), eq(bulkItems.state, state), condition)

/** Lists servers that are left, up to `count`. */
export async function listPending(tx: Tx, operationId: number, count: number): Promise<number[]> {
  const rows = await tx.db
    .select({ serverId: bulkItems.serverId })
    .from(bulkItems)
    .where(inState(operationId, 'pending'))
    .orderBy(bulkItems.serverId)
    .limit(count)
  return rows.map(({ serverId }) => serverId)
}

/** Marks a server as running before anything is done to it. Returns false when it was marked before. */
export async function claimItem(tx: Tx, operationId: number, serverId: number): Promise<boolean> {
  const claimed = await tx.db
    .update(bulkItems)
    .set({ state: 'running' })
    .where(inState(operationId, 'pending', eq(bulkItems.serverId, serverId)))
    .returning({ serverId: bulkItems.serverId })
  return claimed.length > 0
}

/** Marks a running server as done. */
export async function storeItemDone(tx: Tx, operationId: number, serverId: number): Promise<void> {
  await tx.db
    .update(bulkItems)
    .set({ state: 'done', finishedAt: tx.now() })
    .where(inState(operationId, 'running', eq(bulkItems.serverId, serverId)))
}

/** Marks a running server as failed, with its cause. */
export async function storeItemFailed(
  tx: Tx,
  operationId: number,
  serverId: number,
  cause: unknown,
): Promise<void> {
  await tx.db
    .update(bulkItems)
    .set(failure(tx, cause))
    .where(inState(operationId, 'running', eq(bulkItems.serverId, serverId)))
}

/** Marks every server that is left as failed. Returns how many there were. */
export async function failPending(tx: Tx, operationId: number, cause: ApiError): Promise<number> {
  const failed = await tx.db
    .update(bulkItems)
    .set(failure(tx, cause))
    .where(inState(operationId, 'pending'))
    .returning({ serverId: bulkItems.serverId })
  return failed.length
}

/**
 * Settles what a worker that died left running: what may be done once has failed, as its outcome is unknown;
 * anything else is done again, except deleting what is gone.
 */
export async function settleAbandoned(tx: Tx, { id, action }: BulkOperation): Promise<void> {
  if (onceOnly.has(action)) {
    await tx.db.update(bulkItems).set(failure(tx, unknownOutcome)).where(inState(id, 'running'))
    return
  }
  if (action === 'delete') {
    const server = tx.db
      .select({ one: sql`1` })
      .from(servers)
      .where(eq(servers.id, bulkItems.serverId))
    await tx.db
      .update(bulkItems)
      .set({ state: 'done', finishedAt: tx.now() })
      .where(inState(id, 'running', notExists(server)))
  }
  await tx.db.update(bulkItems).set({ state: 'pending' }).where(inState(id, 'running'))
}

/** Marks an operation as finished when no server is left or worked on. Returns whether it is. */
export async function finishOperation(tx: Tx, operationId: number): Promise<boolean> {
  const isLeft = inArray(bulkItems.state, ['pending', 'running'])
  const left = await tx.db.$count(bulkItems, and(eq(bulkItems.operationId, operationId), isLeft))
  if (left > 0) return false
  await tx.db.update(bulkOperations).set({ finishedAt: tx.now() }).where(eq(bulkOperations.id, operationId))
  return true
}

/** Shortens a text, and removes what PostgreSQL does not store. */
const storable = (text: string) => text.replaceAll('\0', '').toWellFormed().slice(0, maxDetailLength)

function failure(tx: Tx, cause: unknown) {
  const { status, entries } = cause instanceof ApiError ? cause : unexpectedFailure
  const [{ code, detail, meta } = { code: 'InternalServerError', detail: '', meta: {} }] = entries
  const cleaned = JSON.stringify(meta, (_, value: unknown) =>
    typeof value === 'string' ? storable(value) : value,
  )
  return {
    state: 'failed' as const,
    errorStatus: status,
    errorCode: code,
    errorDetail: storable(detail),
    errorMeta: JSON.parse(cleaned) as BulkItem['errorMeta'],
    finishedAt: tx.now(),
  }
}
