import { and, eq, isNull, type Placeholder, sql } from 'drizzle-orm'
import { alias, type AnyPgColumn, QueryBuilder } from 'drizzle-orm/pg-core'
import { servers, subusers, transfers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { GrantedPermissions } from '../permissions.ts'

/** Columns of a node that the routes of its servers use. */
export const accessNodeColumns = [
  'id',
  'uuid',
  'name',
  'fqdn',
  'scheme',
  'maintenanceMode',
  'daemonListen',
  'daemonSftp',
  'queryAddress',
  'sftpDomain',
  'daemonToken',
] as const satisfies (keyof Node)[]
export type AccessNode = Pick<Node, (typeof accessNodeColumns)[number]>

/** A server with its node, and what the caller may do there. */
export type ServerAccess = {
  server: Server
  node: AccessNode
  permissions: GrantedPermissions
  isOwner: boolean
  isTransferring: boolean
}

/** A server with its node: what a call to its daemon needs. */
export type ServerOnNode = Pick<ServerAccess, 'server' | 'node'>

/** Builds subqueries apart from a connection; it must be told how columns are named. */
const queryBuilder = () => new QueryBuilder({ casing: 'snake_case' })

/** Matches the access of a user to a server as its subuser, which one who is only invited does not have. */
export const isSubuserOf = (serverId: number | AnyPgColumn, userId: number | AnyPgColumn | Placeholder) =>
  and(eq(subusers.serverId, serverId), eq(subusers.userId, userId), sql`not ${subusers.pending}`)

/** Selects the ids of the servers which the user owns or is a subuser of; for `inArray`. */
export function accessibleServerIds(userId: number | AnyPgColumn | Placeholder) {
  const owned = alias(servers, 'owned')
  return queryBuilder()
    .select({ id: owned.id })
    .from(owned)
    .where(eq(owned.ownerId, userId))
    .union(
      queryBuilder()
        .select({ id: subusers.serverId })
        .from(subusers)
        .where(and(eq(subusers.userId, userId), eq(subusers.pending, false))),
    )
}

/** Selects the same ids with the `permissions` that the user was granted, null for own servers; each once. */
export const accessibleServers = (userId: AnyPgColumn) => sql`
  select id, max(permissions) as permissions from (
    select id, null::text[] as permissions from ${servers} owned where owned.owner_id = ${userId}
    union all
    select server_id, permissions from ${subusers} share where share.user_id = ${userId} and not share.pending
  ) accessible group by id order by id`

/** Matches the open transfer of a server, by default of the statement's own: at most one row of `transfers`. */
export const isOpenTransfer = (serverId: number | AnyPgColumn = servers.id) =>
  and(eq(transfers.serverId, serverId), isNull(transfers.successful))

/** Selects whether the statement's server is being transferred. */
export function hasOpenTransfer() {
  const openTransfer = queryBuilder()
    .select({ one: sql`1` })
    .from(transfers)
    .where(isOpenTransfer())
  return sql<boolean>`exists (${openTransfer})`
}
