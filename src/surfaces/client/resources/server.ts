import * as z from 'zod'
import { serverStatuses } from '../../../db/tables/servers.ts'
import { isGranted } from '../../../domain/permissions.ts'
import type { ClientServer } from '../../../domain/servers/client-servers.ts'
import { renderStartup } from '../../../domain/servers/invocation.ts'
import { NullResource, nullResource, resource } from '../../../http/resource.ts'
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
export const ServerResource = resource('server', Attributes, (row: ClientServer) => {
  const { server, node } = row
  return {
    server_owner: row.isOwner,
    identifier: server.uuidShort,
    internal_id: server.id,
    uuid: server.uuid,
    name: server.name,
    node: node.name,
    is_node_under_maintenance: node.maintenanceMode,
    sftp_details: { ip: node.sftpDomain ?? node.fqdn, port: node.daemonSftp, alias: node.sftpDomain },
    description: server.description,
    limits: {
      memory: server.memory,
      swap: server.swap,
      disk: server.disk,
      io: server.io,
      cpu: server.cpu,
      threads: server.threads,
      oom_disabled: server.oomDisabled,
      oom_killer: !server.oomDisabled,
    },
    invocation: invocationOf(row),
    docker_image: server.image,
    egg_features: row.egg.features,
    feature_limits: {
      databases: server.databaseLimit,
      allocations: server.allocationLimit,
      backups: server.backupLimit,
    },
    status: server.status,
    is_suspended: server.status === 'suspended',
    is_installing: server.status === 'installing' || server.status === 'install_failed',
    is_transferring: row.isTransferring,
    relationships: relationshipsOf(row),
  }
})

/** Schema of a server with the caller's permissions. */
export const ServerWithMeta = () =>
  z.object({
    object: z.literal('server'),
    attributes: Attributes(),
    meta: z.object({ is_server_owner: z.boolean(), user_permissions: z.array(z.string()) }),
  })

/** Presents a server with the caller's permissions. */
export const presentServer = (row: ClientServer) => ({
  ...ServerResource.one(row),
  meta: { is_server_owner: row.isOwner, user_permissions: row.permissions },
})

function invocationOf(row: ClientServer): string {
  const { server, egg } = row
  const allocation = row.allocations.find(({ id }) => id === server.allocationId)
  if (!allocation) throw new Error('A server does not hold its primary allocation.')
  return renderStartup(
    { server, variables: egg.variables, allocation },
    { hideVariables: !isGranted(row.permissions, 'startup.read') },
  )
}

/** Without the permission to read allocations, shows the primary one only. */
function relationshipsOf(row: ClientServer) {
  const { server, permissions, include, panelUrl } = row
  const subusers = row.subusers.map((subuser) => ({ ...subuser, panelUrl }))
  return {
    allocations: AllocationResource.list(visibleAllocations(row)),
    variables: isGranted(permissions, 'startup.read')
      ? EggVariableResource.list(visibleVariables(row).map((variable) => ({ variable, server })))
      : nullResource,
    ...(include.includes('egg') ? { egg: EggResource.one(row.egg) } : {}),
    ...(include.includes('subusers')
      ? { subusers: isGranted(permissions, 'user.read') ? SubuserResource.list(subusers) : nullResource }
      : {}),
  }
}

function visibleAllocations({ server, permissions, allocations }: ClientServer) {
  const all = allocations.map((each) => ({ ...each, isDefault: each.id === server.allocationId }))
  return isGranted(permissions, 'allocation.read')
    ? all
    : all.filter(({ isDefault }) => isDefault).map((each) => ({ ...each, notes: null }))
}

const visibleVariables = ({ egg }: ClientServer) => egg.variables.filter(({ userViewable }) => userViewable)
