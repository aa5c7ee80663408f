import * as z from 'zod'
import type { DatabaseHost } from '../../../db/tables/database-hosts.ts'
import { Relationships, resource, timestamp, Timestamp } from '../../../http/resource.ts'

export const DatabaseHostResource = resource(
  'database_host',
  () =>
    z.object({
      id: z.int(),
      name: z.string(),
      host: z.string(),
      port: z.int(),
      username: z.string(),
      node: z.int().nullable(),
      created_at: Timestamp(),
      updated_at: Timestamp(),
      relationships: Relationships(),
    }),
  (row: DatabaseHost) => ({
    id: row.id,
    name: row.name,
    host: row.host,
    port: row.port,
    username: row.username,
    node: row.nodeId,
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
  }),
)
