import { type Acl, type AclResource, aclResources } from '../../db/tables/api-keys.ts'
import { forbidden } from '../../errors.ts'
import type { Tx } from '../../panel.ts'

/** Returns the levels of an input, in which each resource can be left out or null. */
export const toAcl = (rawLevels: Record<string, unknown>): Acl =>
  Object.fromEntries(
    aclResources.flatMap((resource) => (rawLevels[resource] ? [[resource, rawLevels[resource]]] : [])),
  ) as Acl

/** Lists the resources on which `acl` has a level that `bounds` does not have. */
const exceedingResources = (acl: Acl, bounds: Acl): AclResource[] =>
  (Object.keys(acl) as AclResource[]).filter(
    (resource) => ((acl[resource] ?? 0) & ~(bounds[resource] ?? 0)) !== 0,
  )

/** Refuses with 403 levels that the caller does not have; the system has all of them. */
export function requireOwnLevels({ actor }: Tx, acl: Acl): void {
  if (actor.kind === 'system') return
  const exceeding = exceedingResources(acl, (actor.kind === 'user' && actor.acl) || {})
  if (exceeding.length > 0)
    throw forbidden('levels_beyond_own', `You do not have these levels yourself: ${exceeding.join(', ')}.`, {
      values: { levels: exceeding.join(', ') },
    })
}
