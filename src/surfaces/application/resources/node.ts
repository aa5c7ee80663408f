import * as z from 'zod'
import type { Node } from '../../../db/tables/nodes.ts'
import { Relationships, resource, timestamp, Timestamp } from '../../../http/resource.ts'

const NodeAttributes = () =>
  z.object({
    id: z.int(),
    uuid: z.uuid(),
    public: z.boolean(),
    name: z.string(),
    description: z.string().nullable(),
    location_id: z.int(),
    fqdn: z.string(),
    scheme: z.enum(['http', 'https']),
    behind_proxy: z.boolean(),
    maintenance_mode: z.boolean(),
    memory: z.int(),
    memory_overallocate: z.int(),
    disk: z.int(),
    disk_overallocate: z.int(),
    upload_size: z.int(),
    daemon_listen: z.int(),
    daemon_sftp: z.int(),
    daemon_base: z.string(),
    country_code: z.string().nullable(),
    query_address: z.string().nullable(),
    sftp_domain: z.string().nullable(),
    created_at: Timestamp(),
    updated_at: Timestamp(),
    allocated_resources: z.object({ memory: z.int(), disk: z.int() }),
    relationships: Relationships(),
  })

const attributesOf = (row: Node) => ({
  id: row.id,
  uuid: row.uuid,
  public: row.public,
  name: row.name,
  description: row.description,
  location_id: row.locationId,
  fqdn: row.fqdn,
  scheme: row.scheme,
  behind_proxy: row.behindProxy,
  maintenance_mode: row.maintenanceMode,
  memory: row.memory,
  memory_overallocate: row.memoryOverallocate,
  disk: row.disk,
  disk_overallocate: row.diskOverallocate,
  upload_size: row.uploadSize,
  daemon_listen: row.daemonListen,
  daemon_sftp: row.daemonSftp,
  daemon_base: row.daemonBase,
  country_code: row.countryCode,
  query_address: row.queryAddress,
  sftp_domain: row.sftpDomain,
  created_at: timestamp(row.createdAt),
  updated_at: timestamp(row.updatedAt),
  allocated_resources: { memory: row.usedMemory, disk: row.usedDisk },
})

/** A node without its token. Memory and disk in MiB. */
export const NodeResource = resource('node', NodeAttributes, attributesOf)

/**
 * A node with room for a server; the sums of its servers' limits are strings of digits. Spec: getApplicationNodesDeployable.
 */
export const DeployableNodeResource = resource(
  'node',
  () => NodeAttributes().extend({ sum_memory: z.string(), sum_disk: z.string() }),
  (row: Node) => ({
    ...attributesOf(row),
    sum_memory: String(row.usedMemory),
    sum_disk: String(row.usedDisk),
  }),
)

/** Schema of a changed node. `meta` is left out unless the daemon did not answer: it learns of the change later. */
export const ChangedNodeResource = () =>
  NodeResource.One().and(z.object({ meta: z.object({ daemon: z.literal('unreachable') }).optional() }))
