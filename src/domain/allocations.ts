import { and, asc, eq, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import ipaddr from 'ipaddr.js'
import * as z from 'zod'
import { canonicalAddress } from '../addresses.ts'
import { foreignKeyViolation } from '../db/database.ts'
import { embedMany } from '../db/embed.ts'
import type { RowPage } from '../db/pagination.ts'
import { fieldsOf } from '../db/relations.ts'
import { allocations, nodes } from '../db/schema.ts'
import type { Allocation } from '../db/tables/allocations.ts'
import { displayError, notFound } from '../errors.ts'
import type { Panel } from '../panel.ts'
import { looseText, text } from './fields.ts'
import { allFilters, containing, equalling, type ListRequest } from './filters.ts'
import { invalidField } from './validation.ts'

const lowestPort = 1024
const highestPort = 65_535
const mostPortsInRange = 1000
/** Pairs that one call may make: addresses times ports. */
const mostPairs = 1000
const widestRange = 25
const largestId = 2_147_483_647

/** `ip` may be an IPv4 range; `ports` holds single ports and ranges. Spec: Application API, allocations. */
export const AllocationsInput = () =>
  z.object({
    ip: text(191),
    alias: text(191).nullish(),
    ports: z.array(looseText(191)).min(1, 'required').max(mostPairs, 'max'),
  })
type AllocationsInput = z.output<ReturnType<typeof AllocationsInput>>

/** Fields that `filter` takes. */
export const allocationFilters = ['ip', 'port', 'ip_alias', 'server_id']

/**
 * One page of a node's allocations in the order of their ids. Filter `server_id`: digits are that
 * server, everything else, also nothing, is unassigned. Refuses with 404 when there is no such node.
 * Spec: Application API, allocations.
 */
export async function listAllocations(
  panel: Panel,
  nodeId: number,
  request: ListRequest,
  include: string[],
): Promise<RowPage<Allocation>> {
  const { page, perPage } = request
  const where = and(eq(allocations.nodeId, nodeId), matching(request.filters))
  const total = panel.db
    .select({ total: sql`count(*)::int` })
    .from(allocations)
    .where(where)
  const ids = panel.db
    .select({ id: allocations.id })
    .from(allocations)
    .where(where)
    .orderBy(asc(allocations.id))
    .limit(perPage)
    .offset((page - 1) * perPage)
  const rows = embedMany(allocations, {
    where: (allocation) => inArray(allocation.id, ids),
    with: (allocation) => fieldsOf('allocation', allocation, include),
  })
  // Selected from the node, so that an empty page and a missing node differ in one statement.
  const [found] = await panel.db
    .select({ total: sql<number>`(${total})`.mapWith(Number), rows })
    .from(nodes)
    .where(eq(nodes.id, nodeId))
  if (!found) throw notFound()
  return { ...found, page, perPage }
}

/**
 * Adds every pair of an address and a port that the node does not have yet; all or none. Refuses with
 * 400 what is no address or port, ranges that are too wide, with 422 more than a thousand pairs, with
 * 404 when there is no such node.
 */
export async function addAllocations(panel: Panel, nodeId: number, input: AllocationsInput): Promise<void> {
  const ips = addressesIn(input.ip)
  const ports = [...new Set(input.ports.flatMap(portsIn))]
  if (ips.length * ports.length > mostPairs)
    throw invalidField('ports', 'max', `One call may make at most ${mostPairs} allocations.`)
  const ipAlias = input.alias ?? null
  const pairs = ips.flatMap((ip) => ports.map((port) => ({ nodeId, ip, ipAlias, port })))
  try {
    await panel.db.insert(allocations).values(pairs).onConflictDoNothing()
  } catch (error) {
    throw foreignKeyViolation(error) ? notFound() : error
  }
}

/** Removes a free allocation of the node. Refuses with 400 one that a server uses, with 404 one of another node. */
export async function removeAllocation(panel: Panel, nodeId: number, id: number): Promise<void> {
  const ofNode = and(eq(allocations.id, id), eq(allocations.nodeId, nodeId))
  const removed = await panel.db
    .delete(allocations)
    .where(and(ofNode, isNull(allocations.serverId)))
    .returning({ id: allocations.id })
  if (removed.length > 0) return
  const [used] = await panel.db.select({ id: allocations.id }).from(allocations).where(ofNode)
  if (!used) throw notFound()
  throw displayError('A server uses this allocation.', 'ServerUsingAllocationException')
}

function matching(filters: ListRequest['filters']): SQL | undefined {
  const { server_id: servers, ...others } = filters
  return and(
    allFilters(
      {
        ip: (values) => equalling(allocations.ip)(values.map((value) => canonicalAddress(value) ?? value)),
        port: equalling(allocations.port),
        ip_alias: containing(allocations.ipAlias),
      },
      others,
    ),
    servers && (servers.length > 0 ? or(...servers.map(ofServer)) : isNull(allocations.serverId)),
  )
}

function ofServer(value: string): SQL {
  if (!/^\d+$/.test(value)) return isNull(allocations.serverId)
  return Number(value) > largestId ? sql`false` : eq(allocations.serverId, Number(value))
}

function addressesIn(ip: string): string[] {
  const [base = '', mask, ...rest] = ip.split('/')
  const address = canonicalAddress(base)
  if (address === null || rest.length > 0)
    throw displayError(`"${ip}" is no address: host names must be resolved before.`)
  if (mask === undefined) return [address]
  const isNarrow = /^\d{1,2}$/.test(mask) && Number(mask) >= widestRange && Number(mask) <= 32
  if (!isNarrow || !ipaddr.IPv4.isValid(address))
    throw displayError(
      `A range must be of IPv4 addresses and from /${widestRange} to /32.`,
      'CidrOutOfRangeException',
    )
  const first = ipaddr.IPv4.networkAddressFromCIDR(`${address}/${mask}`).octets
  const [a = 0, b = 0, c = 0, d = 0] = first
  return Array.from({ length: 2 ** (32 - Number(mask)) }, (_, at) => [a, b, c, d + at].join('.'))
}

function portsIn(written: string): number[] {
  const [, start, end = start] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(written) ?? []
  if (start === undefined)
    throw displayError(`"${written}" is neither a port nor a range of ports.`, 'InvalidPortMappingException')
  const [low, high] = [Number(start), Number(end)].toSorted((one, other) => one - other) as [number, number]
  if (high - low >= mostPortsInRange)
    throw displayError(`A range may have at most ${mostPortsInRange} ports.`, 'TooManyPortsInRangeException')
  if (low < lowestPort || high > highestPort)
    throw displayError(`Ports must be from ${lowestPort} to ${highestPort}.`, 'PortOutOfRangeException')
  return Array.from({ length: high - low + 1 }, (_, at) => low + at)
}
