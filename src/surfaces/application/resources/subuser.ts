import * as z from 'zod'
import type { Subuser } from '../../../db/tables/subusers.ts'
import { Relationships, resource, timestamp, Timestamp } from '../../../http/resource.ts'

export const SubuserResource = resource(
  'subuser',
  () =>
    z.object({
      id: z.int(),
      user_id: z.int(),
      server_id: z.int(),
      permissions: z.array(z.string()),
      created_at: Timestamp(),
      updated_at: Timestamp(),
      relationships: Relationships(),
    }),
  (row: Subuser) => ({
    id: row.id,
    user_id: row.userId,
    server_id: row.serverId,
    permissions: row.permissions,
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
  }),
)
