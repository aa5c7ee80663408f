import { and, between, eq, gte, inArray, isNotNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { QueryBuilder } from 'drizzle-orm/pg-core'
import { allocations, servers } from '../../db/schema.ts'
import { containsFilter, type Filter } from '../filters.ts'
import { matchesShort } from './identifiers.ts'

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const addressPattern = new RegExp(`^((?:${octet}\\.){3}${octet})?(?::(\\d{1,5}))?$`)
const maxPort = 65_535
/** Digits of a port, from which on they begin a few ports only. */
const minArrayDigits = 4
const zeroUuid = '00000000-0000-0000-0000-000000000000'

/**
 * Matches servers by general search. An IPv4 address, an address with a port, or `:port` matches allocations,
 * the port by its first digits; other text matches the uuid or its beginning, short identifier, external id, or
 * part of the name, ignoring case. Spec: docs/servers.md#lists-and-search.
 */
export const serverSearchFilter: Filter = (values) => or(...values.map(searchCondition))

/** An address as it is shown, also by an alias, with a whole port. */
const shownAddressPattern = /^\[?([^\s\]]{1,255}?)\]?:(\d{1,5})$/

/**
 * Matches servers by an address of theirs: as the general search does, and by an alias or an IPv6 address with its
 * port. Returns null for text that is no address.
 */
export function addressSearch(text: string): SQL | null {
  const [, ip, port] = addressPattern.exec(text) ?? []
  if (ip !== undefined || port !== undefined) return allocationCondition(ip, port)
  const [, host = '', wholePort] = shownAddressPattern.exec(text) ?? []
  if (wholePort === undefined || Number(wholePort) > maxPort) return null
  const matching = new QueryBuilder({ casing: 'snake_case' })
    .select({ serverId: allocations.serverId })
    .from(allocations)
    .where(
      and(
        isNotNull(allocations.serverId),
        eq(allocations.port, Number(wholePort)),
        or(
          eq(allocations.ip, host.toLowerCase()),
          sql`lower(${allocations.ipAlias}) = ${host.toLowerCase()}`,
        ),
      ),
    )
  return sql`${servers.id} = any(array(${matching}))`
}

function searchCondition(text: string): SQL | undefined {
  const [, ip, port] = addressPattern.exec(text) ?? []
  if (ip !== undefined || port !== undefined) return allocationCondition(ip, port)
  return or(
    uuidPrefixCondition(text.toLowerCase()),
    matchesShort(sql`${text.toLowerCase()}`),
    eq(servers.externalId, text),
    containsFilter(servers.name)([text]),
  )
}

function allocationCondition(ip: string | undefined, port: string | undefined): SQL {
  const matching = new QueryBuilder({ casing: 'snake_case' })
    .select({ serverId: allocations.serverId })
    .from(allocations)
    .where(
      and(
        isNotNull(allocations.serverId),
        ip === undefined ? undefined : eq(allocations.ip, ip),
        port === undefined ? undefined : portPrefixCondition(port),
      ),
    )
  // As an array, the ids lead to their servers in order, however many PostgreSQL expects; many would fill a large one.
  return port === undefined || port.length < minArrayDigits
    ? inArray(servers.id, matching)
    : sql`${servers.id} = any(array(${matching}))`
}

/** Matches ports by their first digits, as ranges, which an index can answer. */
function portPrefixCondition(prefix: string): SQL {
  const first = Number(prefix)
  const ranges = prefix.startsWith('0')
    ? []
    : [1, 10, 100, 1000, 10_000].map((step) => [first * step, first * step + step - 1] as const)
  return (
    or(
      ...ranges
        .filter(([low]) => low <= maxPort)
        .map(([low, high]) => between(allocations.port, low, Math.min(high, maxPort))),
    ) ?? sql`false`
  )
}

/** Matches a range of uuids, which an index can answer; undefined for text that begins none. */
function uuidPrefixCondition(text: string): SQL | undefined {
  const first = text + zeroUuid.slice(text.length)
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(first)) return undefined
  return and(
    gte(servers.uuid, first),
    lte(servers.uuid, text + zeroUuid.slice(text.length).replaceAll('0', 'f')),
  )
}
