import { and, between, eq, exists, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { allocations, nodes } from '../../db/schema.ts'
import type { Allocation } from '../../db/tables/allocations.ts'
import { displayError } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { invalidField } from '../validation.ts'
import type { DeployInput } from './input.ts'

/** What a server takes from its node, in MiB. */
export type Share = { memory: number; disk: number }
export type PortRange = { from: number; to: number }

const widestRange = 1000

/**
 * Ports and inclusive ranges of `deploy.port_range`; none means any port.
 *
 * Refuses with 422 what is neither, with 400 a range of more than 1,000 ports.
 */
export function parsePortRanges(written: readonly string[]): PortRange[] {
  return written.map((text, at) => {
    const [, from, to] = /^(\d{1,5})(?: *- *(\d{1,5}))?$/.exec(text.trim()) ?? []
    const range = { from: Number(from), to: Number(to ?? from) }
    if (from === undefined || range.from > range.to || range.to > 65_535) {
      throw invalidField(`deploy.port_range.${at}`, 'regex', `"${text}" is no port and no range of ports.`)
    }
    if (range.to - range.from > widestRange) {
      throw displayError('A range of ports may hold at most 1,000.', 'TooManyPortsInRangeException')
    }
    return range
  })
}

/** The node has room for the share. An over-allocation of -1 lifts the limit. */
export const hasRoom = ({ memory, disk }: Share): SQL | undefined =>
  and(
    sql`(${nodes.memoryOverallocate} = -1 or ${nodes.usedMemory} + ${memory}::bigint <= ${nodes.memory} * (1 + ${nodes.memoryOverallocate} / 100.0))`,
    sql`(${nodes.diskOverallocate} = -1 or ${nodes.usedDisk} + ${disk}::bigint <= ${nodes.disk} * (1 + ${nodes.diskOverallocate} / 100.0))`,
  )

/**
 * The node takes new servers: it is public, not in maintenance, in one of the locations (any, when none is
 * named), and has room.
 */
export const isViable = (locationIds: readonly number[], share: Share): SQL | undefined =>
  and(
    eq(nodes.public, true),
    eq(nodes.maintenanceMode, false),
    locationIds.length > 0 ? inArray(nodes.locationId, [...locationIds]) : undefined,
    hasRoom(share),
  )

/** 400 when no node can take a server. */
export const noNode = () => displayError('No node has room for this server.', 'NoViableNodeException')

/** Free allocations on a node that fit what was asked for. */
function isFit(deploy: DeployInput, ranges: PortRange[]): SQL | undefined {
  const taken = alias(allocations, 'taken')
  const ports = ranges.map(({ from, to }) => between(allocations.port, from, to))
  return and(
    isNull(allocations.serverId),
    ports.length > 0 ? or(...ports) : undefined,
    deploy.dedicated_ip
      ? sql`not exists (select 1 from ${allocations} taken where ${taken.nodeId} = ${allocations.nodeId} and ${taken.ip} = ${allocations.ip} and ${taken.serverId} is not null)`
      : undefined,
  )
}

/**
 * Ids of nodes that can take the server, in random order: public, not in maintenance, in one of the
 * locations (any, when none is named), with room and a free allocation that fits.
 *
 * Refuses with 400 `NoViableNodeException` without such a node, `NoViableAllocationException` when
 * only the allocation is missing.
 */
export async function findViableNodes(panel: Panel, deploy: DeployInput, share: Share): Promise<number[]> {
  const ranges = parsePortRanges(deploy.port_range)
  const free = panel.db
    .select({ one: sql`1` })
    .from(allocations)
    .where(and(eq(allocations.nodeId, nodes.id), isFit(deploy, ranges)))
  const found = await panel.db
    .select({ id: nodes.id, hasAllocation: sql<boolean>`${exists(free)}` })
    .from(nodes)
    .where(isViable(deploy.locations, share))
    .orderBy(sql`random()`)
  if (found.length === 0) throw noNode()
  const fit = found.filter(({ hasAllocation }) => hasAllocation).map(({ id }) => id)
  if (fit.length === 0) throw noAllocation()
  return fit
}

/** 400 when no free allocation fits. */
export const noAllocation = () =>
  displayError('No free allocation fits what was asked for.', 'NoViableAllocationException')

/**
 * A free allocation of the node that fits, locked until the transaction ends, or null. Takes the
 * lock of the node first: of two servers that want an address of their own, the second sees the first.
 */
export async function lockFreeAllocation(
  panel: Panel,
  nodeId: number,
  deploy: DeployInput,
  share: Share,
): Promise<Allocation | null> {
  const [node] = await panel.db
    .select({ id: nodes.id })
    .from(nodes)
    .where(and(eq(nodes.id, nodeId), hasRoom(share)))
    .for('update')
  if (!node) return null
  const [allocation] = await panel.db
    .select()
    .from(allocations)
    .where(and(eq(allocations.nodeId, nodeId), isFit(deploy, parsePortRanges(deploy.port_range))))
    .orderBy(sql`random()`)
    .limit(1)
    .for('update', { skipLocked: true })
  return allocation ?? null
}
