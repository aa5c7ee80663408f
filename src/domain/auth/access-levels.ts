import { type Acl, type AclResource, aclResources } from '../../db/tables/api-keys.ts'
import { forbidden } from '../../errors.ts'
import type { Actor, Tx } from '../../panel.ts'

/** What a caller wants to do with a resource. */
export type AccessLevel = 'read' | 'write'

const levelBits = { read: 1, write: 2 } as const

/** Resources that existed before keys stored a level for every resource. */
const originalResources: readonly AclResource[] = [
  'servers',
  'nodes',
  'allocations',
  'users',
  'locations',
  'nests',
  'eggs',
  'database_hosts',
  'server_databases',
  'settings',
  'api_keys',
  'jobs',
]

/** All levels on every resource. */
export const fullAcl = (): Acl => Object.fromEntries(aclResources.map((resource) => [resource, 3 as const]))

/** Adds level 0 for each resource that is left out, so that a key gets no access to resources of later versions. */
export const completeAcl = (acl: Acl): Acl =>
  Object.fromEntries(aclResources.map((resource) => [resource, acl[resource] ?? 0]))

/**
 * Returns the levels that a stored key has. A key with all levels on everything that it names has them on
 * resources of later versions too, so that integrations with full access keep it; other keys have none there.
 */
export function effectiveAcl(stored: Acl): Acl {
  const hasFullAccess =
    originalResources.every((resource) => stored[resource] === 3) &&
    Object.values(stored).every((level) => level === 3)
  return hasFullAccess ? fullAcl() : stored
}

/** Returns the levels that both have. */
export const sharedLevels = (one: Acl, other: Acl): Acl =>
  Object.fromEntries(
    aclResources.map((resource) => [
      resource,
      ((one[resource] ?? 0) & (other[resource] ?? 0)) as 0 | 1 | 2 | 3,
    ]),
  )

/** Whether the caller has the level on the resource: callers of the Application API alone have levels. */
export function hasAccessLevel(actor: Actor, resource: AclResource, level: AccessLevel): boolean {
  const grantedBits = actor.kind === 'user' ? (actor.acl?.[resource] ?? 0) : 0
  return (grantedBits & levelBits[level]) !== 0
}

/**
 * Refuses with 403 a caller who lacks the level on the resource. The system, which runs the command line and
 * jobs, has every level.
 */
export function requireAccessLevel(tx: Tx, resource: AclResource, level: AccessLevel): void {
  if (tx.actor.kind === 'system' || hasAccessLevel(tx.actor, resource, level)) return
  throw forbidden('level_missing', `You may not ${level} ${resource.replace('_', ' ')}.`, {
    values: { level, resource },
  })
}
