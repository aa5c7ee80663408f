import * as z from 'zod'
import { serverStatuses } from '../../../db/tables/servers.ts'
import { NullResource, resourceSchemas } from '../../../http/resource.ts'
import { AllocationResource } from './allocation.ts'
import { EggVariableResource } from './egg-variable.ts'
import { EggResource } from './egg.ts'
import { SubuserResource } from './subuser.ts'

const Attributes = () =>
  z.object({
    server_owner: z.boolean(),
    identifier: z.string().length(8),
    internal_id: z.int(),
    uuid: z.uuid(),
    name: z.string(),
    node: z.string(),
    is_node_under_maintenance: z.boolean(),
    sftp_details: z.object({ ip: z.string(), port: z.int(), alias: z.string().nullable() }),
    description: z.string(),
    limits: z.object({
      memory: z.int(),
      swap: z.int(),
      disk: z.int(),
      io: z.int(),
      cpu: z.int(),
      threads: z.string().nullable(),
      oom_disabled: z.boolean(),
      oom_killer: z.boolean(),
    }),
    invocation: z.string(),
    docker_image: z.string(),
    egg_features: z.array(z.string()).nullable(),
    feature_limits: z.object({
      databases: z.int().nullable(),
      allocations: z.int().nullable(),
      backups: z.int(),
    }),
    status: z.enum(serverStatuses).nullable(),
    is_suspended: z.boolean(),
    is_installing: z.boolean(),
    is_transferring: z.boolean(),
    relationships: z.object({
      allocations: AllocationResource.List(),
      variables: z.union([EggVariableResource.List(), NullResource()]),
      egg: EggResource.One().optional(),
      subusers: z.union([SubuserResource.List(), NullResource()]).optional(),
    }),
  })

/** A server as its users see it. Memory, swap and disk in MiB, CPU in percent of one core. */
export const ServerResource = resourceSchemas('server', Attributes)

/** A server in an answer. */
export type ServerItem = { object: 'server'; attributes: z.output<ReturnType<typeof Attributes>> }

/** Schema of a server with the caller's permissions. */
export const ServerWithMeta = () =>
  z.object({
    object: z.literal('server'),
    attributes: Attributes(),
    meta: z.object({
      is_server_owner: z.boolean(),
      user_permissions: z.array(z.string()),
      offers: z.object({ databases: z.boolean(), allocations: z.boolean(), console_share: z.boolean() }),
    }),
  })
