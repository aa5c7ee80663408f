import { and, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import ipaddr from 'ipaddr.js'
import * as z from 'zod'
import { isForeignKeyViolation } from '../../db/database.ts'
import { unlimitedCount } from '../../db/page-ids.ts'
import { countRow, type RowPage } from '../../db/pagination.ts'
import { listRows } from '../../db/related-rows.ts'
import { allocations, nodes } from '../../db/schema.ts'
import type { Allocation } from '../../db/tables/allocations.ts'
import { displayError, notFound } from '../../errors.ts'
import { canonicalAddress } from '../../ip-addresses.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordAdminEvent } from '../activity/record.ts'
import { coercedText, text } from '../fields.ts'
import { combineFilters, containsFilter, equalsFilter, type ListRequest } from '../filters.ts'
import { invalidField } from '../validation.ts'

/** As the Pterodactyl API, which refuses 1024, too. */
const minPort = 1025
const maxPort = 65_535
const maxPortsPerRange = 1000
/** Maximum of allocations that one call creates: addresses times ports. */
const maxAllocationsPerCall = 1000
const minPrefixLength = 25
/** Characters of the ports in an entry of the activity log. */
const maxRecordedPorts = 200
const maxRowId = 2_147_483_647

/** `ip` may be an IPv4 range; `ports` holds single ports and ranges. Spec: docs/remote.md#allocations-of-a-node. */
export const AllocationsInput = () =>
  z.object({
    ip: text(191),
    alias: text(191).nullish(),
    ports: z.array(coercedText(191)).min(1, 'required').max(maxAllocationsPerCall, 'max'),
  })
type AllocationsInput = z.output<ReturnType<typeof AllocationsInput>>

/** Fields that `filter` takes. */
export const allocationFilters = ['ip', 'port', 'ip_alias', 'server_id']

/**
 * Lists one page of a node's allocations by id. Filter `server_id`: digits match that server, anything else,
 * also nothing, matches free ones. Refuses with 404. Spec: docs/remote.md#allocations-of-a-node.
 */
export async function listAllocations(
  panel: Panel,
  nodeId: number,
  request: ListRequest,
  include: string[],
): Promise<RowPage<Allocation>> {
  const found = await listRows<Allocation>(panel.db, 'allocation', {
    ...request,
    include,
    where: and(eq(allocations.nodeId, nodeId), filterCondition(request.filters)),
    maxExactTotal: unlimitedCount,
    // So that an empty page and a missing node differ in one statement.
    extraCount: countRow(nodes, nodeId),
  })
  if (found.extraCount === 0) throw notFound()
  return found
}

/**
 * Creates every pair of an address and a port that the node does not have yet; all or none. Refuses with 404;
 * with 400 what is no address or port, and ranges that are too wide; with 422 more than a thousand pairs.
 * Records `admin:allocation.create`, unless the node had them all.
 */
export async function addAllocations(panel: Panel, nodeId: number, input: AllocationsInput): Promise<void> {
  const ips = parseAddresses(input.ip)
  const ports = [...new Set(input.ports.flatMap(parsePorts))]
  if (ips.length * ports.length > maxAllocationsPerCall)
    throw invalidField('ports', 'max', `One call may make at most ${maxAllocationsPerCall} allocations.`, {
      reason: 'too_many_allocations',
      values: { max: maxAllocationsPerCall },
    })
  const ipAlias = input.alias ?? null
  const pairs = ips.flatMap((ip) => ports.map((port) => ({ nodeId, ip, ipAlias, port })))
  try {
    await inTransaction(panel, async (tx) => {
      const insert = tx.db.insert(allocations).values(pairs).onConflictDoNothing()
      const added = (await insert.returning({ id: allocations.id })).length
      if (added === 0) return
      const ports = input.ports.join(', ').slice(0, maxRecordedPorts)
      const properties = { node: nodeId, ip: input.ip, ports, added }
      await recordAdminEvent(tx, 'admin:allocation.create', { type: 'node', id: nodeId }, properties)
    })
  } catch (error) {
    throw isForeignKeyViolation(error) ? notFound() : error
  }
}

/**
 * Deletes a free allocation of the node. Refuses with 400 one that a server uses, with 404 one of another node.
 * Records `admin:allocation.delete`.
 */
export async function removeAllocation(panel: Panel, nodeId: number, id: number): Promise<void> {
  const ofNode = and(eq(allocations.id, id), eq(allocations.nodeId, nodeId))
  await inTransaction(panel, async (tx) => {
    const isFree = isNull(allocations.serverId)
    const [removed] = await tx.db.delete(allocations).where(and(ofNode, isFree)).returning()
    if (!removed) throw await removalRefusal(tx, ofNode)
    const properties = { node: nodeId, allocation: `${removed.ip}:${removed.port}` }
    await recordAdminEvent(tx, 'admin:allocation.delete', { type: 'allocation', id }, properties)
  })
}

async function removalRefusal(tx: Tx, ofNode: SQL | undefined): Promise<Error> {
  const [used] = await tx.db.select({ id: allocations.id }).from(allocations).where(ofNode)
  return used
    ? displayError('allocation_in_use', 'A server uses this allocation.', {
        code: 'ServerUsingAllocationException',
      })
    : notFound()
}

function filterCondition(filters: ListRequest['filters']): SQL | undefined {
  const { server_id: servers, ...others } = filters
  return and(
    combineFilters(
      {
        ip: (values) => equalsFilter(allocations.ip)(values.map((value) => canonicalAddress(value) ?? value)),
        port: equalsFilter(allocations.port),
        ip_alias: containsFilter(allocations.ipAlias),
      },
      others,
    ),
    servers && (servers.length > 0 ? or(...servers.map(serverCondition)) : isNull(allocations.serverId)),
  )
}

function serverCondition(value: string): SQL {
  if (!/^\d+$/.test(value)) return isNull(allocations.serverId)
  return Number(value) > maxRowId ? sql`false` : eq(allocations.serverId, Number(value))
}

function parseAddresses(ip: string): string[] {
  const [base = '', mask, ...rest] = ip.split('/')
  const address = canonicalAddress(base)
  if (address === null || rest.length > 0)
    throw displayError('not_an_ip_address', `"${ip}" is not an IP address. Resolve host names first.`, {
      values: { address: ip },
    })
  if (mask === undefined) return [address]
  const isNarrow = /^\d{1,2}$/.test(mask) && Number(mask) >= minPrefixLength && Number(mask) <= 32
  if (!isNarrow || !ipaddr.IPv4.isValid(address))
    throw displayError(
      'address_range_invalid',
      `An address range must be IPv4, from /${minPrefixLength} to /32.`,
      { code: 'CidrOutOfRangeException', values: { prefix: minPrefixLength } },
    )
  const first = ipaddr.IPv4.networkAddressFromCIDR(`${address}/${mask}`).octets
  const [a = 0, b = 0, c = 0, d = 0] = first
  return Array.from({ length: 2 ** (32 - Number(mask)) }, (_, at) => [a, b, c, d + at].join('.'))
}

function parsePorts(portOrRange: string): number[] {
  const [, start, end = start] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(portOrRange) ?? []
  if (start === undefined)
    throw displayError('port_invalid', `"${portOrRange}" is neither a port nor a range of ports.`, {
      code: 'InvalidPortMappingException',
      values: { port: portOrRange },
    })
  const [low, high] = [Number(start), Number(end)].toSorted((one, other) => one - other) as [number, number]
  if (high - low >= maxPortsPerRange)
    throw displayError('port_range_too_large', `A range may have at most ${maxPortsPerRange} ports.`, {
      code: 'TooManyPortsInRangeException',
      values: { max: maxPortsPerRange },
    })
  if (low < minPort || high > maxPort)
    throw displayError('port_out_of_range', `Ports must be from ${minPort} to ${maxPort}.`, {
      code: 'PortOutOfRangeException',
      values: { min: minPort, max: maxPort },
    })
  return Array.from({ length: high - low + 1 }, (_, at) => low + at)
}
