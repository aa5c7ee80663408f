import * as z from 'zod'
import type { Transfer } from '../../../db/tables/transfers.ts'
import { resource, timestamp, Timestamp, timestampOrNull } from '../../../http/resource.ts'

/** `successful` is null while the transfer is open. */
export const ServerTransferResource = resource(
  'server_transfer',
  () =>
    z.object({
      id: z.int(),
      server: z.int(),
      old_node: z.int(),
      new_node: z.int(),
      old_allocation: z.int(),
      new_allocation: z.int(),
      old_additional_allocations: z.array(z.int()),
      new_additional_allocations: z.array(z.int()),
      successful: z.boolean().nullable(),
      deadline_at: Timestamp().nullable(),
      created_at: Timestamp(),
      updated_at: Timestamp(),
    }),
  (row: Transfer) => ({
    id: row.id,
    server: row.serverId,
    old_node: row.oldNodeId,
    new_node: row.newNodeId,
    old_allocation: row.oldAllocationId,
    new_allocation: row.newAllocationId,
    old_additional_allocations: row.oldAdditionalAllocations,
    new_additional_allocations: row.newAdditionalAllocations,
    successful: row.successful,
    deadline_at: timestampOrNull(row.deadlineAt),
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
  }),
)
