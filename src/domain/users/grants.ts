import type { User } from '../../db/tables/users.ts'
import type { Tx } from '../../panel.ts'
import { requireAccessLevel } from '../auth/access-levels.ts'
import { findRoleRow, requireRoot } from '../auth/administrators.ts'
import { requireOwnLevels } from '../auth/granted-levels.ts'
import { invalidField } from '../validation.ts'

type Rights = Pick<User, 'rootAdmin' | 'roleId'>
type WantedRights = { root_admin?: boolean | null | undefined; role_id?: number | null | undefined }

/** Refuses with 403 to make a root administrator unless the caller is root and may write administrators. */
export function requireRootGrant(tx: Tx): void {
  requireAccessLevel(tx, 'administrators', 'write')
  requireRoot(tx)
}

/**
 * Returns the role that an account gets with other rights: undefined when it stays, null for root. Refuses with 403
 * root rights that the caller may not give, and a role when the caller may not write administrators or lacks one of its
 * levels; with 422 an unknown role, and a role beside root rights.
 */
export async function requireGrant(
  tx: Tx,
  before: Rights,
  { root_admin, role_id }: WantedRights,
): Promise<number | null | undefined> {
  if (root_admin) requireRootGrant(tx)
  const isRoot = root_admin ?? before.rootAdmin
  if (isRoot && role_id)
    throw invalidField('role_id', 'prohibited', 'A root administrator has no role.', {
      reason: 'root_administrator_role',
    })
  if (isRoot) return null
  if (role_id === undefined || role_id === before.roleId) return undefined
  requireAccessLevel(tx, 'administrators', 'write')
  if (role_id === null) return null
  const role = await findRoleRow(tx, role_id)
  if (!role) throw invalidField('role_id', 'exists', 'The role_id field does not exist.')
  requireOwnLevels(tx, role.acl)
  return role_id
}
