import * as z from 'zod'
import type { ServerFields } from '../../../db/relations.ts'
import { type Server, serverStatuses } from '../../../db/tables/servers.ts'
import { serverEnvironment } from '../../../domain/servers/environment.ts'
import { Relationships, resource, timestamp, Timestamp } from '../../../http/resource.ts'

/** A server as administrators see it. Memory, swap and disk in MiB, CPU in percent of one core. */
export const ServerResource = resource(
  'server',
  () =>
    z.object({
      id: z.int(),
      external_id: z.string().nullable(),
      uuid: z.uuid(),
      identifier: z.string().length(8),
      name: z.string(),
      description: z.string(),
      status: z.enum(serverStatuses).nullable(),
      suspended: z.boolean(),
      limits: z.object({
        memory: z.int(),
        swap: z.int(),
        disk: z.int(),
        io: z.int(),
        cpu: z.int(),
        threads: z.string().nullable(),
        oom_disabled: z.boolean(),
      }),
      feature_limits: z.object({
        databases: z.int().nullable(),
        allocations: z.int().nullable(),
        backups: z.int(),
      }),
      user: z.int(),
      node: z.int(),
      allocation: z.int(),
      nest: z.int(),
      egg: z.int(),
      container: z.object({
        startup_command: z.string(),
        image: z.string(),
        installed: z.union([z.literal(0), z.literal(1)]),
        environment: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
      }),
      updated_at: Timestamp(),
      created_at: Timestamp(),
      relationships: Relationships(),
    }),
  (row: Server & ServerFields) => ({
    id: row.id,
    external_id: row.externalId,
    uuid: row.uuid,
    identifier: row.uuidShort,
    name: row.name,
    description: row.description,
    status: row.status,
    suspended: row.status === 'suspended',
    limits: {
      memory: row.memory,
      swap: row.swap,
      disk: row.disk,
      io: row.io,
      cpu: row.cpu,
      threads: row.threads,
      oom_disabled: row.oomDisabled,
    },
    feature_limits: {
      databases: row.databaseLimit,
      allocations: row.allocationLimit,
      backups: row.backupLimit,
    },
    user: row.ownerId,
    node: row.nodeId,
    allocation: row.allocationId,
    nest: row.egg.nestId,
    egg: row.eggId,
    container: {
      startup_command: row.startup,
      image: row.image,
      installed: row.status === 'installing' || row.status === 'install_failed' ? (0 as const) : (1 as const),
      environment: serverEnvironment({
        server: row,
        variables: row.egg.variables,
        location: row.node.location,
      }),
    },
    updated_at: timestamp(row.updatedAt),
    created_at: timestamp(row.createdAt),
  }),
)
