import * as z from 'zod'
import type { Allocation } from '../../../db/tables/allocations.ts'
import { Relationships, resource } from '../../../http/resource.ts'

export const AllocationResource = resource(
  'allocation',
  () =>
    z.object({
      id: z.int(),
      ip: z.string(),
      alias: z.string().nullable(),
      port: z.int(),
      notes: z.string().nullable(),
      assigned: z.boolean(),
      relationships: Relationships(),
    }),
  (row: Allocation) => ({
    id: row.id,
    ip: row.ip,
    alias: row.ipAlias,
    port: row.port,
    notes: row.notes,
    assigned: row.serverId !== null,
  }),
)
