import * as z from 'zod'
import type { Allocation } from '../../../db/tables/allocations.ts'
import { resource } from '../../../http/resource.ts'

/** An allocation of a server, as its users see it. */
export const AllocationResource = resource(
  'allocation',
  () =>
    z.object({
      id: z.int(),
      ip: z.string(),
      ip_alias: z.string().nullable(),
      port: z.int(),
      notes: z.string().nullable(),
      is_default: z.boolean(),
    }),
  (row: Pick<Allocation, 'id' | 'ip' | 'ipAlias' | 'port' | 'notes'> & { isDefault: boolean }) => ({
    id: row.id,
    ip: row.ip,
    ip_alias: row.ipAlias,
    port: row.port,
    notes: row.notes,
    is_default: row.isDefault,
  }),
)
