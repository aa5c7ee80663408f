import * as z from 'zod'
import type { DatabaseRow } from '../../../db/tables/databases.ts'
import { Relationships, resource, timestamp, Timestamp } from '../../../http/resource.ts'

export const DatabaseResource = resource(
  'server_database',
  () =>
    z.object({
      id: z.int(),
      server: z.int(),
      host: z.int(),
      database: z.string(),
      username: z.string(),
      remote: z.string(),
      max_connections: z.int().nullable(),
      created_at: Timestamp(),
      updated_at: Timestamp(),
      relationships: Relationships(),
    }),
  (row: DatabaseRow) => ({
    id: row.id,
    server: row.serverId,
    host: row.databaseHostId,
    database: row.database,
    username: row.username,
    remote: row.remote,
    max_connections: row.maxConnections,
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
  }),
)
