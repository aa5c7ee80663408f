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
      max_databases: z.int().nullable(),
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
    max_databases: row.maxDatabases,
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
  }),
)

/** What a host reports when the panel connects; `tls` tells whether the connection is encrypted. */
export const DatabaseHostReport = () =>
  z.object({ reachable: z.literal(true), version: z.string(), tls: z.boolean() })
