import { sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../../db/database.ts'
import { allocations, locations, nodeHeartbeats, nodes } from '../../db/schema.ts'

/** Capacity of the nodes of a location: memory and disk in MiB, `limit` with over-allocation, null without one. */
export type LocationCapacity = {
  id: number
  short: string
  long: string | null
  nodes: number
  nodesUp: number
  servers: number
  runningServers: number
  memory: ResourceCapacity
  disk: ResourceCapacity
  allocations: { total: number; used: number; free: number }
}
/** `promised` are the limits of the servers, `used` is what they were using when their nodes were last asked. */
export type ResourceCapacity = { total: number; limit: number | null; promised: number; used: number }

/** Reads the capacity of every location, by id. One statement. */
export async function listCapacity(db: Database): Promise<LocationCapacity[]> {
  const result = await db.execute(sql`
    select l.id, l.short, l.long, ${sql.raw(nodeSums)}
    from ${locations} l left join ${nodes} n on n.location_id = l.id left join ${nodeHeartbeats} h on h.id = n.id
      left join (
        select node_id, count(*) as total, count(server_id) as used from ${allocations} group by node_id
      ) a on a.node_id = n.id
    group by l.id order by l.id`)
  return rowsOf<Row>(result).map(toCapacity)
}

const limitOf = (resource: 'memory' | 'disk') =>
  `case when bool_or(n.${resource}_overallocate = -1) then null
   else floor(sum(n.${resource} * (1 + n.${resource}_overallocate / 100.0)))::float8 end`

const nodeSums = `
  count(n.id)::int as nodes, (count(*) filter (where h.is_up))::int as nodes_up,
  coalesce(sum(h.servers), 0)::int as servers, coalesce(sum(h.running_servers), 0)::int as running,
  coalesce(sum(n.memory), 0)::float8 as memory, ${limitOf('memory')} as memory_limit,
  coalesce(sum(n.used_memory), 0)::float8 as memory_promised,
  coalesce(floor(sum(h.memory_bytes) / 1048576), 0)::float8 as memory_used,
  coalesce(sum(n.disk), 0)::float8 as disk, ${limitOf('disk')} as disk_limit,
  coalesce(sum(n.used_disk), 0)::float8 as disk_promised,
  coalesce(floor(sum(h.disk_bytes) / 1048576), 0)::float8 as disk_used,
  coalesce(sum(a.total), 0)::int as allocations, coalesce(sum(a.used), 0)::int as allocations_used`

type Row = {
  id: number
  short: string
  long: string | null
  nodes: number
  nodes_up: number
  servers: number
} & Record<'running' | 'memory' | 'memory_promised' | 'memory_used' | 'disk' | 'disk_promised', number> &
  Record<'disk_used' | 'allocations' | 'allocations_used', number> &
  Record<'memory_limit' | 'disk_limit', number | null>

const toCapacity = (row: Row): LocationCapacity => ({
  id: row.id,
  short: row.short,
  long: row.long,
  nodes: row.nodes,
  nodesUp: row.nodes_up,
  servers: row.servers,
  runningServers: row.running,
  memory: {
    total: row.memory,
    limit: row.nodes === 0 ? 0 : row.memory_limit,
    promised: row.memory_promised,
    used: row.memory_used,
  },
  disk: {
    total: row.disk,
    limit: row.nodes === 0 ? 0 : row.disk_limit,
    promised: row.disk_promised,
    used: row.disk_used,
  },
  allocations: {
    total: row.allocations,
    used: row.allocations_used,
    free: row.allocations - row.allocations_used,
  },
})
