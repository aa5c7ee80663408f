import { and, between, eq, exists, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { allocations, nodes } from '../../db/schema.ts'
import type { Allocation } from '../../db/tables/allocations.ts'
import { displayError } from '../../errors.ts'
import type { Panel, Tx } from '../../panel.ts'
import { invalidField } from '../validation.ts'
import type { DeployInput } from './input.ts'

/** Memory and disk that a server takes from its node, in MiB. */
export type ServerResources = { memory: number; disk: number }
export type PortRange = { from: number; to: number }

const maxPortsPerRange = 1000

/**
 * Parses the ports and inclusive ranges of `deploy.port_range`; an empty list allows any port.
 *
 * Refuses with 422 what is neither, with 400 a range of more than 1,000 ports.
 */
export function parsePortRanges(portRanges: readonly string[]): PortRange[] {
  return portRanges.map((text, at) => {
    const [, from, to] = /^(\d{1,5})(?: *- *(\d{1,5}))?$/.exec(text.trim()) ?? []
    const range = { from: Number(from), to: Number(to ?? from) }
    if (from === undefined || range.from > range.to || range.to > 65_535) {
      throw invalidField(
        `deploy.port_range.${at}`,
        'regex',
        `"${text}" is neither a port nor a range of ports.`,
        { reason: 'port_invalid', values: { port: text } },
      )
    }
    if (range.to - range.from > maxPortsPerRange) {
      throw displayError('port_range_over_1000', 'A range may have at most 1,000 ports.', {
        code: 'TooManyPortsInRangeException',
      })
    }
    return range
  })
}

/** Matches nodes with this memory left, in whole numbers, which are fast. An over-allocation of -1 lifts the limit. */
export const hasMemory = (memory: number): SQL =>
  sql`(${nodes.memoryOverallocate} = -1 or (${nodes.usedMemory} + ${memory}::bigint) * 100 <= ${nodes.memory} * (100 + ${nodes.memoryOverallocate}::bigint))`

/** Matches nodes with this disk space left. */
export const hasDisk = (disk: number): SQL =>
  sql`(${nodes.diskOverallocate} = -1 or (${nodes.usedDisk} + ${disk}::bigint) * 100 <= ${nodes.disk} * (100 + ${nodes.diskOverallocate}::bigint))`

/** Matches nodes with room for the server. */
export const hasRoom = ({ memory, disk }: ServerResources): SQL | undefined =>
  and(hasMemory(memory), hasDisk(disk))

/**
 * Matches nodes that take the server: public, not in maintenance, in one of the locations (any when none is
 * named), with room.
 */
export const isViableNode = (locationIds: readonly number[], resources: ServerResources): SQL | undefined =>
  and(
    eq(nodes.public, true),
    eq(nodes.maintenanceMode, false),
    locationIds.length > 0 ? inArray(nodes.locationId, [...locationIds]) : undefined,
    hasRoom(resources),
  )

/** A node that may take a server. */
export type CandidateNode = { id: number; uuid: string }

/** 400 when no node can take a server. */
export const noViableNode = () =>
  displayError('no_viable_node', 'No node has room for this server.', { code: 'NoViableNodeException' })

/** Matches free allocations that fit the request. */
export function matchesDeployment(deploy: DeployInput, ranges: PortRange[]): SQL | undefined {
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
 * Finds the nodes that take the server, in random order and without those that did not answer lately, unless there
 * are no others: public, not in maintenance, in one of the
 * locations (any when none is named), with room and a free allocation that fits.
 *
 * Refuses with 400 `NoViableNodeException` without such a node, `NoViableAllocationException` when only the
 * allocation is missing.
 */
export async function findViableNodes(
  panel: Panel,
  deploy: DeployInput,
  resources: ServerResources,
): Promise<CandidateNode[]> {
  const ranges = parsePortRanges(deploy.port_range)
  const free = panel.db
    .select({ one: sql`1` })
    .from(allocations)
    .where(and(eq(allocations.nodeId, nodes.id), matchesDeployment(deploy, ranges)))
  const found = await panel.db
    .select({ id: nodes.id, uuid: nodes.uuid, hasAllocation: sql<boolean>`${exists(free)}` })
    .from(nodes)
    .where(isViableNode(deploy.locations, resources))
    .orderBy(sql`random()`)
  if (found.length === 0) throw noViableNode()
  const viable = found.filter(({ hasAllocation }) => hasAllocation)
  if (viable.length === 0) throw noViableAllocation()
  const answering = viable.filter((node) => !panel.isNodeSilent(node))
  return answering.length > 0 ? answering : viable
}

/** 400 when no free allocation fits. */
export const noViableAllocation = () =>
  displayError('no_viable_allocation', 'No free allocation fits the request.', {
    code: 'NoViableAllocationException',
  })

/**
 * Locks a free allocation of the node that fits until the transaction ends; null without one. Locks the node
 * first: of two servers that want a dedicated address, the second sees the first.
 */
export async function lockFreeAllocation(
  tx: Tx,
  nodeId: number,
  deploy: DeployInput,
  resources: ServerResources,
): Promise<Allocation | null> {
  const [node] = await tx.db
    .select({ id: nodes.id })
    .from(nodes)
    .where(and(eq(nodes.id, nodeId), hasRoom(resources)))
    .for('update')
  if (!node) return null
  const [allocation] = await tx.db
    .select()
    .from(allocations)
    .where(and(eq(allocations.nodeId, nodeId), matchesDeployment(deploy, parsePortRanges(deploy.port_range))))
    .orderBy(sql`random()`)
    .limit(1)
    .for('update', { skipLocked: true })
  return allocation ?? null
}
