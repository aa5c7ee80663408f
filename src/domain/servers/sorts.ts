import { type AnyColumn, type SQL, sql } from 'drizzle-orm'
import type { Walk } from '../../db/pagination.ts'
import { eggs, nodes, servers, serverStates, users } from '../../db/schema.ts'
import type { ProcessState } from '../../db/tables/server-states.ts'
import type { ListRequest } from '../filters.ts'

/** How servers are sorted, and where another table has the order, how their ids are found. */
type ServerSort = { order: (direction: SQL) => SQL[]; walk?: (direction: SQL) => Walk }

const lower = (column: AnyColumn): SQL => sql`lower(${column})`

/**
 * Walks groups of servers in the order of a related table. Of each group only as many are read as the page may need, and
 * groups behind the page are not.
 */
const groupedWalk =
  (table: typeof nodes | typeof eggs, column: AnyColumn) =>
  (direction: SQL): Walk =>
  (condition, { limit, offset }) =>
    sql`select page_id from (
      select id as group_id, lower(name) as group_name from ${table} order by 2 ${direction}, 1 ${direction}) related
    cross join lateral (select ${servers.id} as page_id from ${servers}
      where ${column} = related.group_id and ${condition ?? sql`true`}
      order by ${servers.id} ${direction} limit ${limit} + ${offset}) grouped
    order by group_name ${direction}, group_id ${direction}, page_id ${direction} limit ${limit} offset ${offset}`

/** Walks the servers of each user in the order of user names. */
const ownerWalk =
  (direction: SQL): Walk =>
  (condition, { limit, offset }) =>
    sql`select ${servers.id} as page_id
    from ${users} inner join ${servers} on ${servers.ownerId} = ${users.id} where ${condition ?? sql`true`}
    order by ${lower(users.username)} ${direction}, ${servers.id} ${direction} limit ${limit} offset ${offset}`

/** The states in their order, from what is off to what runs: in the order of letters what stops would stand before it. */
const stateOrder = ['offline', 'stopping', 'starting', 'running'] as const satisfies readonly ProcessState[]
const stateNames = sql.raw(`array[${stateOrder.map((state) => `'${state}'`).join(', ')}]`)

/** Walks the servers of each state; those without one, which no node has reported, are last. */
const stateWalk =
  (direction: SQL): Walk =>
  (condition, { limit, offset }) =>
    sql`select page_id from (with known as materialized (
      select page_id, rank from unnest(${stateNames}) with ordinality as states (name, rank)
      cross join lateral (select ${servers.id} as page_id
        from ${serverStates} inner join ${servers} on ${servers.id} = ${serverStates.id}
        where ${serverStates.state} = states.name and ${condition ?? sql`true`}
        order by ${serverStates.id} ${direction} limit ${limit} + ${offset}) reported
      order by rank ${direction}, page_id ${direction} limit ${limit} + ${offset})
    select page_id, rank from known
    union all (select ${servers.id}, null from ${servers}
      where not exists (select 1 from ${serverStates} where ${serverStates.id} = ${servers.id}) and ${condition ?? sql`true`}
      order by ${servers.id} ${direction}
      limit ${limit} + ${offset} - (select count(*) from known))) ordered
    order by rank ${direction} nulls last, page_id ${direction} limit ${limit} offset ${offset}`

const nameOf = (table: typeof nodes | typeof eggs, column: AnyColumn): SQL =>
  sql`(select lower(related.name) from ${table} related where related.id = ${column})`
const ownerName = sql`(select lower(owner.username) from ${users} owner where owner.id = ${servers.ownerId})`
const stateOf = sql`(select array_position(${stateNames}, reported.state) from ${serverStates} reported where reported.server_id = ${servers.id})`

const sorts: Record<string, ServerSort> = {
  id: { order: () => [] },
  uuid: { order: (direction) => [sql`${servers.uuid} ${direction}`] },
  name: { order: (direction) => [sql`${lower(servers.name)} ${direction}`] },
  memory: { order: (direction) => [sql`${servers.memory} ${direction}`] },
  node: {
    order: (direction) => [
      sql`${nameOf(nodes, servers.nodeId)} ${direction}`,
      sql`${servers.nodeId} ${direction}`,
    ],
    walk: groupedWalk(nodes, servers.nodeId),
  },
  egg: {
    order: (direction) => [
      sql`${nameOf(eggs, servers.eggId)} ${direction}`,
      sql`${servers.eggId} ${direction}`,
    ],
    walk: groupedWalk(eggs, servers.eggId),
  },
  owner: { order: (direction) => [sql`${ownerName} ${direction}`], walk: ownerWalk },
  state: { order: (direction) => [sql`${stateOf} ${direction} nulls last`], walk: stateWalk },
}

/** Fields that `sort` takes. */
export const serverSorts = Object.keys(sorts)

/**
 * Returns the order of a list of servers, and how its ids are found where an index of another table has that order. What
 * is equal stands in the order of ids, in the direction of the last sort.
 */
export function orderOfServers(requested: ListRequest['sorts']): { orderBy: SQL[]; walk?: Walk } {
  const known = requested.flatMap(({ field, descending }) => {
    const sort = sorts[field]
    return sort ? [{ ...sort, direction: descending ? sql`desc` : sql`asc` }] : []
  })
  const last = known.at(-1)
  if (!last) return { orderBy: [] }
  const { walk, direction } = last
  return {
    orderBy: [...known.flatMap((sort) => sort.order(sort.direction)), sql`${servers.id} ${direction}`],
    ...(walk && known.length === 1 ? { walk: walk(direction) } : {}),
  }
}
