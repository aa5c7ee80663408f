import * as z from 'zod'
import type { LocationCapacity, ResourceCapacity } from '../../../domain/locations/capacity.ts'
import { resource } from '../../../http/resource.ts'

const Capacity = () =>
  z.object({
    total: z.int(),
    limit: z.int().nullable().describe('With over-allocation; null without a limit'),
    promised: z.int().describe('The limits of the servers'),
    used: z.int().describe('What the servers used when their nodes were last asked'),
    free: z.int().nullable().describe('What can still be promised; null without a limit'),
  })

const capacityOf = (capacity: ResourceCapacity) => ({
  ...capacity,
  free: capacity.limit === null ? null : Math.max(0, capacity.limit - capacity.promised),
})

/** The capacity of a location's nodes; memory and disk in MiB. */
export const LocationCapacityResource = resource(
  'location_capacity',
  () =>
    z.object({
      location_id: z.int(),
      short: z.string(),
      long: z.string().nullable(),
      nodes: z.object({ total: z.int(), up: z.int() }),
      servers: z.object({ total: z.int(), running: z.int() }).describe('As the nodes list them'),
      memory: Capacity(),
      disk: Capacity(),
      allocations: z.object({ total: z.int(), used: z.int(), free: z.int() }),
    }),
  (row: LocationCapacity) => ({
    location_id: row.id,
    short: row.short,
    long: row.long,
    nodes: { total: row.nodes, up: row.nodesUp },
    servers: { total: row.servers, running: row.runningServers },
    memory: capacityOf(row.memory),
    disk: capacityOf(row.disk),
    allocations: row.allocations,
  }),
)
