import { and, asc, desc, eq, type SQL, sql } from 'drizzle-orm'
import * as z from 'zod'
import type { RowPage } from '../../db/pagination.ts'
import { allocations, nodeHeartbeats, nodes } from '../../db/schema.ts'
import type { Panel } from '../../panel.ts'
import { boolean, coercedText, integer, rowId, text } from '../fields.ts'
import { containsFilter } from '../filters.ts'
import { hasDisk, hasMemory, matchesDeployment, parsePortRanges } from '../servers/deploy.ts'

const defaultPerPage = 50
const maxPerPage = 100
const maxPage = 10_000
const maxAllocations = 500

/** Why a node does not take a server. */
export const placementReasons = [
  'location',
  'private',
  'maintenance',
  'memory',
  'disk',
  'allocation',
  'down',
] as const
export type PlacementReason = (typeof placementReasons)[number]

/** The size of a server, memory and disk in MiB, and where it should go. Spec: docs/remote.md#placement. */
export const PlacementQuery = () =>
  z.object({
    memory: integer(0),
    disk: integer(0),
    location_ids: z.array(rowId()).max(1000, 'max').nullish(),
    port_range: z.array(coercedText(32)).max(100, 'max').nullish(),
    dedicated_ip: boolean().nullish(),
    allocations: integer(1, maxAllocations)
      .nullish()
      .describe('Free allocations that are needed; 1 when left out'),
    search: text(100).nullish().describe('Part of the name of the node'),
    page: integer(1, maxPage).nullish(),
    per_page: integer(1, maxPerPage).nullish(),
  })
type PlacementQuery = z.output<ReturnType<typeof PlacementQuery>>

/** A node, what it has left in MiB (null without a limit), and why it does not take the server; nothing when it does. */
export type NodePlacement = {
  id: number
  name: string
  freeMemory: number | null
  freeDisk: number | null
  reasons: PlacementReason[]
}

/**
 * Lists one page of all nodes, those that take the server first, then by name, with why the others do not. Refuses with
 * 422 and 400 what `deploy` of a server refuses. Spec: docs/remote.md#placement.
 */
export async function listPlacements(panel: Panel, query: PlacementQuery): Promise<RowPage<NodePlacement>> {
  const [page, perPage] = [query.page ?? 1, query.per_page ?? defaultPerPage]
  const reasons = reasonsColumn(query)
  const rows = await panel.db
    .select({
      id: nodes.id,
      name: nodes.name,
      freeMemory: leftOf(nodes.memory, nodes.memoryOverallocate, nodes.usedMemory),
      freeDisk: leftOf(nodes.disk, nodes.diskOverallocate, nodes.usedDisk),
      reasons: sql<string>`array_to_string(${reasons}, ',')`,
      total: sql<number>`(count(*) over ())::int`,
    })
    .from(nodes)
    .leftJoin(nodeHeartbeats, eq(nodeHeartbeats.id, nodes.id))
    .where(query.search ? containsFilter(nodes.name)([query.search]) : undefined)
    .orderBy(desc(sql`cardinality(${reasons}) = 0`), asc(sql`lower(${nodes.name})`), asc(nodes.id))
    .limit(perPage)
    .offset((page - 1) * perPage)
  return {
    rows: rows.map(({ total: _total, reasons: found, ...row }) => ({
      ...row,
      freeMemory: row.freeMemory === null ? null : Number(row.freeMemory),
      freeDisk: row.freeDisk === null ? null : Number(row.freeDisk),
      reasons: found === '' ? [] : (found.split(',') as PlacementReason[]),
    })),
    total: rows[0]?.total ?? 0,
    page,
    perPage,
  }
}

/** Selects what a node may still promise; null where it may promise anything. */
const leftOf = (
  size: typeof nodes.memory | typeof nodes.disk,
  overallocate: typeof nodes.memoryOverallocate | typeof nodes.diskOverallocate,
  used: typeof nodes.usedMemory | typeof nodes.usedDisk,
) =>
  sql<
    number | string | null
  >`case when ${overallocate} = -1 then null else greatest(0, ${size} * (100 + ${overallocate}::bigint) / 100 - ${used}) end`

/** Selects the names of the reasons for which a node does not take the server. */
function reasonsColumn(query: PlacementQuery): SQL {
  const { memory, disk, location_ids: locations, allocations: needed } = query
  const deploy = {
    locations: locations ?? [],
    dedicated_ip: query.dedicated_ip ?? false,
    port_range: query.port_range ?? [],
  }
  const free = sql`(select count(*) from (select 1 from ${allocations}
    where ${and(eq(allocations.nodeId, nodes.id), matchesDeployment(deploy, parsePortRanges(deploy.port_range)))}
    limit ${needed ?? 1}) free)`
  const conditions: Record<PlacementReason, SQL> = {
    location:
      deploy.locations.length > 0
        ? sql`${nodes.locationId} not in (${sql.join(
            deploy.locations.map((id) => sql`${id}`),
            sql`, `,
          )})`
        : sql`false`,
    private: sql`not ${nodes.public}`,
    maintenance: sql`${nodes.maintenanceMode}`,
    memory: sql`not ${hasMemory(memory)}`,
    disk: sql`not ${hasDisk(disk)}`,
    allocation: sql`${free} < ${needed ?? 1}`,
    down: sql`not coalesce(${nodeHeartbeats.isUp}, true)`,
  }
  const cases = placementReasons.map(
    (reason) => sql`case when ${conditions[reason]} then ${sql.raw(`'${reason}'`)} end`,
  )
  return sql`array_remove(array[${sql.join(cases, sql`, `)}]::text[], null)`
}
