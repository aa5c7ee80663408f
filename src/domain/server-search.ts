import { and, eq, gte, inArray, isNotNull, like, lte, or, type SQL, sql } from 'drizzle-orm'
import { QueryBuilder } from 'drizzle-orm/pg-core'
import { allocations, servers } from '../db/schema.ts'
import { containing, type Filter } from './filters.ts'

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const addressPattern = new RegExp(`^((?:${octet}\\.){3}${octet})?(?::(\\d{1,5}))?$`)
const lowest = '00000000-0000-0000-0000-000000000000'

/**
 * Servers which a general search finds. An IPv4 address, one with a port, or `:port` finds by allocation,
 * the port by its first digits; other text by uuid or its beginning, short id, external id, or part of the
 * name, whatever its case. Spec: Client API, server list.
 */
export const searchedFor: Filter = (values) => or(...values.map(findable))

function findable(text: string): SQL | undefined {
  const [, ip, port] = addressPattern.exec(text) ?? []
  if (ip !== undefined || port !== undefined) return allocatedAt(ip, port)
  return or(
    uuidBeginning(text.toLowerCase()),
    eq(servers.uuidShort, text.toLowerCase()),
    eq(servers.externalId, text),
    containing(servers.name)([text]),
  )
}

function allocatedAt(ip: string | undefined, port: string | undefined): SQL {
  const matching = new QueryBuilder({ casing: 'snake_case' })
    .select({ serverId: allocations.serverId })
    .from(allocations)
    .where(
      and(
        isNotNull(allocations.serverId),
        ip === undefined ? undefined : eq(allocations.ip, ip),
        port === undefined ? undefined : like(sql`${allocations.port}::text`, `${port}%`),
      ),
    )
  return inArray(servers.id, matching)
}

/** A range of uuids, which an index can answer; undefined for what begins none. */
function uuidBeginning(text: string): SQL | undefined {
  const first = text + lowest.slice(text.length)
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(first)) return undefined
  return and(
    gte(servers.uuid, first),
    lte(servers.uuid, text + lowest.slice(text.length).replaceAll('0', 'f')),
  )
}
