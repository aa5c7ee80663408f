import { and, eq, inArray, not, type SQL, sql } from 'drizzle-orm'
import { alias, QueryBuilder } from 'drizzle-orm/pg-core'
import { eggs, nodes, servers, subusers, users } from '../../db/schema.ts'
import { containsFilter, ilikeFilter, type ListRequest } from '../filters.ts'
import { accessibleServerIds, accessibleServers, isSubuserOf } from './access.ts'
import { serverSearchFilter } from './search.ts'
import { orderOfServers } from './sorts.ts'
import { stateFilter } from './state-filter.ts'

/** Subqueries are built apart from a connection, so the builder must be told how columns are named. */
const queryBuilder = () => new QueryBuilder({ casing: 'snake_case' })

/** Which servers a list holds; the last two are empty for users who are not administrators. */
export const serverScopes = ['accessible', 'owner', 'admin', 'admin-all'] as const
export type ServerScope = (typeof serverScopes)[number]

/** Fields that `sort` takes in lists of the caller's servers. */
export const clientServerSorts = ['name', 'state', 'node', 'egg'] as const

/** Filters of lists of the caller's servers. */
export const scopeFilters = {
  uuid: containsFilter(servers.uuid),
  name: containsFilter(servers.name),
  description: containsFilter(servers.description),
  external_id: containsFilter(servers.externalId),
  '*': serverSearchFilter,
  state: stateFilter,
  node: (values: string[]) =>
    sql`${servers.nodeId} in (select ${nodes.id} from ${nodes} where ${ilikeFilter(nodes.name)(values)})`,
  egg: (values: string[]) =>
    sql`${servers.eggId} in (select ${eggs.id} from ${eggs} where ${ilikeFilter(eggs.name)(values)})`,
  owner: ownerFilter,
}

/** Matches servers by the name of their owner, which subusers are not told: they find their own alone. */
function ownerFilter(values: string[]): SQL {
  const owner = alias(users, 'owner')
  return sql`(${users.rootAdmin} or ${servers.ownerId} = ${users.id}) and ${servers.ownerId} in (select ${owner.id} from ${users} "owner" where ${ilikeFilter(owner.username)(values)})`
}

/** Names that `filter[…]` may have in lists of the caller's servers. */
export const clientServerFilters = Object.keys(scopeFilters) as (keyof typeof scopeFilters)[]

/** Where the servers of a scope come from, for the caller of the statement, and what the caller was granted there. */
type ScopeRows = { source?: SQL; where?: SQL | undefined; permissions: SQL<string[] | null> }

/** Owners and administrators need no granted permissions. */
const noPermissions = sql<null>`null`

/** Returns where the servers of a scope come from; `isFiltered` when more than their ids decides which are shown. */
export function scopeOf(scope: ServerScope, isFiltered: boolean): ScopeRows {
  switch (scope) {
    case 'owner':
      return { where: eq(servers.ownerId, users.id), permissions: noPermissions }
    case 'admin':
      return {
        where: and(eq(users.rootAdmin, true), not(inArray(servers.id, accessibleServerIds(users.id)))),
        permissions: noPermissions,
      }
    case 'admin-all':
      return { where: eq(users.rootAdmin, true), permissions: noPermissions }
    default:
      // Without a filter the ids say enough: no server is read before the page is known.
      return isFiltered
        ? { where: inArray(servers.id, accessibleServerIds(users.id)), permissions: grantedPermissions() }
        : { source: accessibleServers(users.id), permissions: sql<string[] | null>`ids.permissions` }
  }
}

const grantedPermissions = () =>
  sql<string[] | null>`(${queryBuilder()
    .select({ permissions: subusers.permissions })
    .from(subusers)
    .where(isSubuserOf(servers.id, users.id))})`

/**
 * Returns what decides which servers of a scope a page has, and in which order: the rows, when they are needed, the
 * caller's permissions on each, and whether the values of the request are part of the statement.
 */
export function pageOfScope(scope: ServerScope, sorts: ListRequest['sorts'], condition: SQL | undefined) {
  const isSorted = sorts.length > 0
  const hasValues = condition !== undefined || isSorted
  const { permissions, ...rows } = scopeOf(scope, hasValues)
  // A user has few servers: they are found first, and then ordered, as the matches of a search are.
  const isFewSorted = isSorted && (scope === 'accessible' || scope === 'owner')
  return {
    permissions,
    hasValues,
    rows: () => ({
      ...(isFewSorted ? { search: and(rows.where, condition) } : { ...rows, search: condition }),
      ...orderOfServers(sorts),
    }),
  }
}
