import * as z from 'zod'
import type { BulkProgress, BulkTotals, CountedBulkOperation } from '../../../domain/bulk/progress.ts'
import { BulkInput } from '../../../domain/bulk/start.ts'
import type { BulkOperation } from '../../../db/tables/bulk-operations.ts'
import { resource, timestamp, Timestamp, timestampOrNull } from '../../../http/resource.ts'

const itemStates = ['pending', 'running', 'done', 'failed'] as const

const Item = () =>
  z.object({
    server_id: z.int(),
    name: z.string().nullable().describe('Null when there is no such server'),
    state: z.enum(itemStates),
    error: z
      .object({
        status: z.int(),
        code: z.string(),
        detail: z.string(),
        meta: z.record(z.string(), z.unknown()),
      })
      .nullable()
      .describe('Why it failed, as the route of one server would answer'),
    finished_at: Timestamp().nullable(),
  })

const Summary = () =>
  z.object({
    id: z.int(),
    action: BulkInput().shape.action,
    signal: z.string().nullable(),
    node_id: z.int().nullable(),
    force: z.boolean().nullable(),
    user_id: z.int(),
    totals: z.object({ pending: z.int(), running: z.int(), done: z.int(), failed: z.int() }),
    created_at: Timestamp(),
    finished_at: Timestamp().nullable(),
  })

const summaryOf = (operation: BulkOperation, totals: BulkTotals) => ({
  id: operation.id,
  action: operation.action,
  signal: operation.parameters.signal ?? null,
  node_id: operation.parameters.nodeId ?? null,
  force: operation.parameters.force ?? null,
  user_id: operation.userId,
  totals,
  created_at: timestamp(operation.createdAt),
  finished_at: timestampOrNull(operation.finishedAt),
})

/** One action on many servers, and how far it is. Spec: docs/servers.md#bulk-actions. */
export const BulkOperationResource = resource(
  'bulk_operation',
  () => Summary().extend({ items: z.array(Item()) }),
  ({ operation, items }: BulkProgress) => ({
    ...summaryOf(operation, totalsOf(items)),
    items: items.map(presentItem),
  }),
)

/** The same without its servers, for lists. */
export const BulkSummaryResource = resource('bulk_operation', Summary, (row: CountedBulkOperation) =>
  summaryOf(row, row.totals),
)

function totalsOf(items: BulkProgress['items']): BulkTotals {
  const totals = { pending: 0, running: 0, done: 0, failed: 0 }
  for (const { state } of items) totals[state] += 1
  return totals
}

const presentItem = (item: BulkProgress['items'][number]) => ({
  server_id: item.serverId,
  name: item.name,
  state: item.state,
  error:
    item.errorStatus === null
      ? null
      : {
          status: item.errorStatus,
          code: item.errorCode ?? '',
          detail: item.errorDetail ?? '',
          meta: item.errorMeta ?? {},
        },
  finished_at: timestampOrNull(item.finishedAt),
})
