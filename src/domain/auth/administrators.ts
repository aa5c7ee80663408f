import { and, eq, ne, type SQL, sql } from 'drizzle-orm'
import { roles, users } from '../../db/schema.ts'
import type { Acl } from '../../db/tables/api-keys.ts'
import type { Role } from '../../db/tables/roles.ts'
import type { User } from '../../db/tables/users.ts'
import { displayError, forbidden } from '../../errors.ts'
import type { Tx } from '../../panel.ts'
import { fullAcl, requireAccessLevel, sharedLevels } from './access-levels.ts'
import { requireOwnLevels } from './granted-levels.ts'

type Account = Pick<User, 'rootAdmin' | 'roleId'>

/** Whether the account is root or holds a role. */
export const isAdministrator = ({ rootAdmin, roleId }: Account): boolean => rootAdmin || roleId !== null

/** Column with the levels of the role of a user (`users`); null without one. */
export const roleAclColumn = (): SQL<Acl | null> =>
  sql`(select ${roles.acl} from ${roles} where ${roles.id} = ${users.roleId})`

/** Returns the levels of an administrator: all of them for root, else those of their role. */
export const administratorAcl = ({ rootAdmin }: Account, roleAcl: Acl | null): Acl =>
  rootAdmin ? fullAcl() : sharedLevels(fullAcl(), roleAcl ?? {})

const isRoot = ({ actor }: Tx) => actor.kind === 'system' || (actor.kind === 'user' && actor.user.rootAdmin)

/** Refuses with 403 a caller who is neither root nor the system. */
export function requireRoot(tx: Tx): void {
  if (!isRoot(tx)) throw forbidden('root_administrator_required', 'This needs a root administrator.')
}

/**
 * Refuses with 403 an account of an administrator when the caller may not write administrators, or is not root and the
 * account is root or has a level that the caller does not have. Spec: docs/rules.md#az-12.
 */
export async function requireAuthorityOver(tx: Tx, account: Account): Promise<void> {
  if (!isAdministrator(account)) return
  requireAccessLevel(tx, 'administrators', 'write')
  await requireLevelsOf(tx, account)
}

/** Does the same for a caller who needs no level on administrators. */
export async function requireLevelsOf(tx: Tx, account: Account): Promise<void> {
  if (!isAdministrator(account) || isRoot(tx)) return
  if (account.rootAdmin) requireRoot(tx)
  const role = account.roleId === null ? null : await findRoleRow(tx, account.roleId)
  requireOwnLevels(tx, role?.acl ?? {})
}

/** Finds a role and keeps it from being deleted until the transaction ends. */
export async function findRoleRow(tx: Tx, id: number): Promise<Role | null> {
  const [role] = await tx.db.select().from(roles).where(eq(roles.id, id)).for('key share')
  return role ?? null
}

/** Key of the advisory lock of whatever ends a root administrator. */
const lastRootLockKey = 7_261_530

/**
 * Refuses with 400 to end the last root administrator who may sign in. Others who end one wait for this transaction,
 * so that two at the same time do not end both.
 */
export async function requireOtherRoot(tx: Tx, id: number): Promise<void> {
  await tx.db.execute(sql`select pg_advisory_xact_lock(${lastRootLockKey})`)
  const isOther = and(eq(users.rootAdmin, true), ne(users.id, id), sql`${users.signInSuspendedAt} is null`)
  const [other] = await tx.db.select({ id: users.id }).from(users).where(isOther).limit(1)
  if (!other) throw displayError('last_root_administrator', 'The last root administrator cannot be removed.')
}
