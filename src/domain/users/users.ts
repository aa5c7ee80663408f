import { and, desc, eq, inArray, or, sql, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import * as z from 'zod'
import { isForeignKeyViolation, single } from '../../db/database.ts'
import type { RowPage } from '../../db/pagination.ts'
import { findRow, listRows } from '../../db/related-rows.ts'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { displayError, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { deferAvatarRemoval } from '../accounts/avatar-removal.ts'
import {
  acceptInvitations,
  lockClaimants,
  otherHolder,
  releaseEmail,
  retryOnEmailConflict,
} from '../accounts/email-claims.ts'
import { hasUsableEmail } from '../accounts/email-policy.ts'
import { recordAdminEvent } from '../activity/record.ts'
import { requireAuthorityOver, requireOtherRoot } from '../auth/administrators.ts'
import { hashNewPassword } from '../auth/password-hash.ts'
import { boolean, coercedText, email, rowId, textBetween, untrimmed } from '../fields.ts'
import {
  combineFilters,
  containsFilter,
  idFilter,
  ilikeFilter,
  type ListRequest,
  orderByColumns,
  shapeName,
} from '../filters.ts'
import { enqueuePasswordChoice } from '../mail/enqueue.ts'
import { enqueueFullRevocation, enqueueUserRevocation } from '../nodes/access-revocations.ts'
import { readIdentity } from '../settings/identity.ts'
import { invalidField, rejectDuplicates } from '../validation.ts'
import { requireGrant, requireRootGrant } from './grants.ts'

/** Letters, digits and, between them, dots, hyphens and underscores. A dot ends the name in SFTP logins. */
const usernamePattern = /^[a-zA-Z\d](?:[\w.-]*[a-zA-Z\d])?$/
/** A language code, or `auto` for the language of the browser. */
const languagePattern = /^(?:[aA][uU][tT][oO]|[a-zA-Z]{2,3}(?:[-_][a-zA-Z]{2})?)$/

/** An administrator chooses passwords of any length, as integrations expect (AU-13). Spec: postApplicationUsers. */
export const UserInput = () =>
  z.object({
    external_id: coercedText(191).nullish(),
    email: email(),
    username: textBetween(1, 191).regex(usernamePattern, 'p_username'),
    first_name: textBetween(1, 191),
    last_name: textBetween(1, 191),
    password: untrimmed(z.string().max(1024, 'max')).nullish(),
    language: z.string().max(5, 'max').regex(languagePattern, 'regex').nullish(),
    root_admin: boolean().nullish(),
    role_id: rowId().nullish().describe('Role of an administrator who is not root; null takes it away'),
  })
/** The same fields: also a change sends e-mail address, user name and names. Spec: docs/compatibility.md#different-on-purpose. */
export const UserChanges = () => UserInput()
type UserInput = z.output<ReturnType<typeof UserInput>>
export type UserChanges = z.output<ReturnType<typeof UserChanges>>

const uniqueConstraints = { users_username: 'username', users_email: 'email', users_external: 'external_id' }

const filterColumns = {
  email: users.email,
  uuid: users.uuid,
  username: users.username,
  external_id: users.externalId,
}

/** Names of the fields that `filter` accepts. */
export const userFilters = [...Object.keys(filterColumns), 'id']

/**
 * Lists one page of users; without a sort, exact matches of a filter come first. An address that is only
 * claimed matches no filter (`hasUsableEmail`). `search` matches parts of name, address, uuid and external id. Spec: docs/accounts.md#users.
 */
export function listUsers(
  panel: Panel,
  request: ListRequest & { search: string | null },
  include: string[],
): Promise<RowPage<User>> {
  const columns = Object.entries(filterColumns)
  const { search } = request
  return listRows(panel.db, 'user', {
    ...request,
    name: shapeName(request),
    include,
    search: and(
      combineFilters(
        {
          ...Object.fromEntries(columns.map(([name, column]) => [name, containsFilter(column)])),
          email: (values) => and(containsFilter(users.email)(values), hasUsableEmail(panel)),
          id: idFilter(users.id),
        },
        request.filters,
      ),
      search === null
        ? undefined
        : or(
            and(containsFilter(users.email)([search]), hasUsableEmail(panel)),
            ...[users.username, users.uuid, users.externalId].map((column) =>
              containsFilter(column)([search]),
            ),
          ),
    ),
    ...(request.sorts.length > 0
      ? { orderBy: orderByColumns({ id: users.id, uuid: users.uuid }, request.sorts) }
      : exactMatchesFirst(columns.map(([name, column]) => [column, request.filters[name] ?? []]))),
  })
}

/** Integrations filter by e-mail address and take the first row, which must not be a partial match. */
function exactMatchesFirst(filters: [PgColumn, string[]][]) {
  const exact = filters
    .filter(([, values]) => values.length > 0)
    .map(([column, values]) => {
      const lowerCased = values.map((value) => value.toLowerCase())
      return {
        isExact: inArray(sql`lower(${column}::text)`, lowerCased),
        isEqual: ilikeFilter(column)(values),
      }
    })
  return {
    orderBy: exact.map(({ isExact }) => desc(sql`coalesce(${isExact}, false)`)),
    // `isEqual` finds them by the index of their parts.
    first: or(...exact.map(({ isExact, isEqual }) => and(isExact, isEqual))),
  }
}

/** Finds a user with the included relations. Refuses with 404. */
export const findUser = (panel: Panel, id: number, include: string[] = []): Promise<User> =>
  findUserWhere(panel, eq(users.id, id), include)

/** Finds a user by external id, case-sensitively. Refuses with 404. */
export const findUserByExternalId = (panel: Panel, externalId: string, include: string[]): Promise<User> =>
  findUserWhere(panel, eq(users.externalId, externalId), include)

/**
 * Creates a user with a verified address. An account that had claimed the address without verifying it loses
 * it. One without a password gets a mail with a link to choose one, unless the setting
 * `notifications.account_created` is off, and cannot sign in before; so does one with a `temporaryPassword`.
 * Refuses with 403 an administrator whom the caller may not make (`requireGrant`); with 422 a user name or
 * e-mail address that is taken, case-insensitively, and an external id that is taken. Records
 * `admin:user.create`.
 */
export async function addUser(
  panel: Panel,
  input: UserInput,
  { temporaryPassword = null }: { temporaryPassword?: string | null } = {},
): Promise<User> {
  if (input.root_admin) requireRootGrant(panel)
  const password = input.password || temporaryPassword
  const passwordHash = password ? await hashNewPassword(panel, password) : null
  return storeUser(panel, async (tx) => {
    const claimants = await lockClaimants(tx, input.email, null)
    const holder = await requireFreeEmail(tx, claimants, input.email, null)
    await releaseEmail(tx, input.email, claimants, null)
    const roleId = await requireGrant(tx, { rootAdmin: false, roleId: null }, input)
    const user = await insertRow(tx, { ...input, role_id: roleId }, passwordHash, tx.now())
    if (holder) await acceptInvitations(tx, holder, user)
    await recordAdminEvent(tx, 'admin:user.create', toSubject(user), { username: user.username })
    if (!input.password) await enqueuePasswordChoice(tx, 'account-created', user.id)
    return user
  })
}

/**
 * Creates a user with a hashed password in a transaction. Their address is only claimed. Refuses with 422 a
 * user name and an address that are taken.
 */
export const insertClaimingUser = (
  tx: Tx,
  input: Omit<UserInput, 'password'>,
  passwordHash: string,
): Promise<User> => rejectDuplicates(uniqueConstraints, () => insertRow(tx, input, passwordHash, null))

/** Creates the first user in a transaction, with a verified address; `uuid` is random when left out. */
export const insertFirstUser = (
  tx: Tx,
  input: Omit<UserInput, 'password'>,
  passwordHash: string | null,
  uuid: string | undefined,
): Promise<User> => insertRow(tx, input, passwordHash, tx.now(), uuid)

async function insertRow(
  tx: Tx,
  input: Omit<UserInput, 'password'>,
  passwordHash: string | null,
  emailVerifiedAt: Date | null,
  uuid?: string,
): Promise<User> {
  const values = {
    ...userColumns(input),
    language: input.language ?? (await readIdentity(tx)).language,
    uuid,
    email: input.email,
    emailVerifiedAt,
    firstName: input.first_name,
    lastName: input.last_name,
    username: input.username.toLowerCase(),
    passwordHash,
  }
  return single(await tx.db.insert(users).values(values).returning())
}

/** Runs a transaction that stores a user with a verified address. Refuses with 422 what another user has. */
export const storeUser = <T>(panel: Panel, work: (tx: Tx) => Promise<T>): Promise<T> =>
  rejectDuplicates(uniqueConstraints, () => retryOnEmailConflict(() => inTransaction(panel, work)))

/**
 * Returns the other account that claims the address, if one does. Refuses with 422 when it verified it, with 403
 * that of an administrator above the caller.
 */
export async function requireFreeEmail(
  tx: Tx,
  claimants: User[],
  email: string,
  userId: number | null,
): Promise<User | null> {
  const holder = otherHolder(claimants, email, userId)
  if (holder?.emailVerifiedAt) throw invalidField('email', 'unique', 'The email has already been taken.')
  if (holder) await requireAuthorityOver(tx, holder)
  return holder
}

/**
 * Deletes a user with their picture, keys and access to servers, on the nodes too. Refuses with 400 a user
 * who owns servers, the caller and the last root administrator, with 403 an administrator above the caller, with 404. Records `admin:user.delete`.
 */
export async function removeUser(panel: Panel, id: number): Promise<void> {
  const { actor } = panel
  if (actor.kind === 'user' && actor.user.id === id)
    throw displayError('own_deletion', 'You cannot delete your own account.')
  try {
    const { avatarKey } = await inTransaction(panel, async (tx) => {
      const user = await lockUser(tx, id)
      if (user.rootAdmin) await requireOtherRoot(tx, id)
      await (user.rootAdmin ? enqueueFullRevocation(tx, user) : enqueueUserRevocation(tx, user))
      await tx.db.delete(users).where(eq(users.id, id))
      await recordAdminEvent(tx, 'admin:user.delete', toSubject(user), { username: user.username })
      return user
    })
    deferAvatarRemoval(panel, avatarKey)
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw displayError('user_owns_servers', 'A user who owns servers cannot be deleted.')
  }
}

/**
 * Locks an account that the caller wants to change. Refuses with 403 an administrator above the caller
 * (`requireAuthorityOver`), with 404.
 */
export async function lockUser(tx: Tx, id: number): Promise<User> {
  const [user] = await tx.db.select().from(users).where(eq(users.id, id)).for('update')
  if (!user) throw notFound()
  await requireAuthorityOver(tx, user)
  return user
}

const toSubject = ({ id }: User) => ({ type: 'user' as const, id })

/** Columns of the fields that are present, except the password. */
export const userColumns = (input: UserChanges) => ({
  externalId: input.external_id,
  email: input.email,
  username: input.username?.toLowerCase(),
  firstName: input.first_name,
  lastName: input.last_name,
  language: input.language ?? undefined,
  rootAdmin: input.root_admin ?? undefined,
  roleId: input.role_id,
})

async function findUserWhere(panel: Panel, where: SQL, include: string[]): Promise<User> {
  const user = await findRow<User>(panel.db, 'user', where, include)
  if (!user) throw notFound()
  return user
}
