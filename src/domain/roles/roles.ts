import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { isForeignKeyViolation, single } from '../../db/database.ts'
import type { RowPage } from '../../db/pagination.ts'
import { findRow, listRows } from '../../db/related-rows.ts'
import { roles } from '../../db/schema.ts'
import { aclResources } from '../../db/tables/api-keys.ts'
import type { Role } from '../../db/tables/roles.ts'
import { displayError, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordAdminEvent, recordAdminUpdate } from '../activity/record.ts'
import { completeAcl } from '../auth/access-levels.ts'
import { endActingOfRole } from '../auth/acting.ts'
import { requireOwnLevels, toAcl } from '../auth/granted-levels.ts'
import { boolean, integer, strictObject, text, textBetween } from '../fields.ts'
import { combineFilters, containsFilter, type ListRequest, orderByColumns } from '../filters.ts'
import { rejectDuplicates } from '../validation.ts'
import { requireExpectedVersion, versionOf } from '../versions.ts'

/** Who may write may read: only keys of integrations can have level 2. */
const RoleLevel = () =>
  integer(0, 3)
    .refine((level) => level !== 2, 'in')
    .nullish()
    .describe('0 none, 1 read, 3 read and write')

/** A role to create. Spec: docs/accounts.md#roles. */
export const RoleInput = () =>
  z.object({
    name: textBetween(1, 60),
    description: text(191).nullish(),
    acl: strictObject(Object.fromEntries(aclResources.map((resource) => [resource, RoleLevel()]))).describe(
      'Level for each resource; 0 when omitted',
    ),
    two_factor_required: boolean()
      .nullish()
      .describe('Whether administrators with this role must use two-factor authentication'),
  })
/** The fields of `RoleInput` that are to change; `acl` as a whole. Spec: docs/accounts.md#roles. */
export const RoleChanges = () => RoleInput().partial()
type RoleInput = z.output<ReturnType<typeof RoleInput>>
type RoleChanges = z.output<ReturnType<typeof RoleChanges>>

const uniqueConstraints = { roles_name: 'name' }
const filterColumns = { name: roles.name }

/** Names of the fields that `filter` accepts. */
export const roleFilters = Object.keys(filterColumns)

/** Lists one page of roles. */
export const listRoles = (panel: Panel, request: ListRequest, include: string[]): Promise<RowPage<Role>> =>
  listRows(panel.db, 'role', {
    ...request,
    include,
    search: combineFilters({ name: containsFilter(filterColumns.name) }, request.filters),
    orderBy: orderByColumns({ id: roles.id, name: roles.name }, request.sorts),
  })

/** Finds a role with the included relations. Refuses with 404. */
export async function findRole(panel: Panel, id: number, include: string[] = []): Promise<Role> {
  const role = await findRow<Role>(panel.db, 'role', eq(roles.id, id), include)
  if (!role) throw notFound()
  return role
}

/**
 * Creates a role. Refuses with 403 levels that the caller does not have, with 422 a name that is taken, ignoring case.
 * Records `admin:role.create`.
 */
export async function addRole(panel: Panel, input: RoleInput): Promise<Role> {
  const acl = completeAcl(toAcl(input.acl))
  requireOwnLevels(panel, acl)
  return rejectDuplicates(uniqueConstraints, () =>
    inTransaction(panel, async (tx) => {
      const values = {
        name: input.name,
        description: input.description ?? '',
        acl,
        twoFactorRequired: input.two_factor_required ?? false,
      }
      const role = single(await tx.db.insert(roles).values(values).returning())
      await recordAdminEvent(tx, 'admin:role.create', toSubject(role), { name: role.name })
      return role
    }),
  )
}

/**
 * Changes the fields that were sent; its holders have the new levels from their next request on. Refuses with 403 a
 * role that has, or would get, levels that the caller does not have; with 404, with 422 a name that is taken. Records
 * `admin:role.update`.
 */
export async function changeRole(panel: Panel, id: number, input: RoleChanges): Promise<Role> {
  const acl = input.acl ? completeAcl(toAcl(input.acl)) : undefined
  return rejectDuplicates(uniqueConstraints, () =>
    inTransaction(panel, async (tx) => {
      const before = await lockRole(tx, id)
      requireExpectedVersion(tx, versionOf(before))
      requireOwnLevels(tx, acl ?? {})
      const changes = {
        name: input.name,
        description: input.description === null ? '' : input.description,
        acl,
        twoFactorRequired: input.two_factor_required ?? undefined,
        updatedAt: tx.now(),
      }
      const role = single(await tx.db.update(roles).set(changes).where(eq(roles.id, id)).returning())
      if (acl) await endActingOfRole(tx, id)
      await recordAdminUpdate(tx, 'admin:role.update', toSubject(role), {
        name: role.name,
        before,
        after: role,
      })
      return role
    }),
  )
}

/**
 * Deletes a role without holders. Refuses with 400 one that administrators hold, with 403 one with levels that the caller
 * does not have, with 404. Records `admin:role.delete`.
 */
export async function removeRole(panel: Panel, id: number): Promise<void> {
  try {
    await inTransaction(panel, async (tx) => {
      const role = await lockRole(tx, id)
      await tx.db.delete(roles).where(eq(roles.id, id))
      await recordAdminEvent(tx, 'admin:role.delete', toSubject(role), { name: role.name })
    })
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw displayError('role_in_use', 'A role that administrators hold cannot be deleted.')
  }
}

/** Locks a role that the caller wants to change. Refuses with 403 levels that the caller does not have, with 404. */
async function lockRole(tx: Tx, id: number): Promise<Role> {
  const [role] = await tx.db.select().from(roles).where(eq(roles.id, id)).for('update')
  if (!role) throw notFound()
  requireOwnLevels(tx, role.acl)
  return role
}

const toSubject = ({ id }: Role) => ({ type: 'role' as const, id })
