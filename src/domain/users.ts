import { desc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import * as z from 'zod'
import { foreignKeyViolation, only } from '../db/database.ts'
import { paginate, type RowPage } from '../db/pagination.ts'
import { fieldsOf, findRow } from '../db/relations.ts'
import { users } from '../db/schema.ts'
import type { User } from '../db/tables/users.ts'
import { displayError, notFound } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { discardAvatar } from './account/avatar.ts'
import { boolean, email, looseText, textBetween } from './fields.ts'
import { allFilters, containing, type ListRequest, orderOf } from './filters.ts'
import { hashPassword } from './password-hash.ts'
import { enqueueFullRevocation, enqueueOwnRevocation, tryRevocations } from './revocations.ts'
import { refusingDuplicates } from './validation.ts'

/** Seconds which the request that demotes an administrator has to tell the nodes itself. */
const headStart = 30

/** Between letters or digits there may be dots, hyphens and underscores: a dot ends it in SFTP login names. */
const usernamePattern = /^[a-z\d](?:[\w.-]*[a-z\d])?$/i
/** A code, or the word by which people leave the choice to their browser. */
const languagePattern = /^(?:auto|[a-z]{2,3}(?:[-_][a-z]{2})?)$/i

/** Spec: Resources, user. */
export const UserInput = () =>
  z.object({
    external_id: looseText(191).nullish(),
    email: email(),
    username: textBetween(1, 191).regex(usernamePattern, 'p_username'),
    first_name: textBetween(1, 191),
    last_name: textBetween(1, 191),
    password: z.string().min(8, 'min').max(1024, 'max').nullish(),
    language: z.string().max(5, 'max').regex(languagePattern, 'regex').nullish(),
    root_admin: boolean().nullish(),
  })
/** The same fields where only some are sent. */
export const UserChanges = () => UserInput().partial()
type UserInput = z.output<ReturnType<typeof UserInput>>
type UserChanges = z.output<ReturnType<typeof UserChanges>>

const duplicates = { users_username: 'username', users_email: 'email', users_external: 'external_id' }

const filterColumns = {
  email: users.email,
  uuid: users.uuid,
  username: users.username,
  external_id: users.externalId,
}

/** Fields that `filter` takes. */
export const userFilters = Object.keys(filterColumns)

/** One page of accounts; without a sort, those that match a filter to the letter come first. Spec: Application API, users. */
export function listUsers(panel: Panel, request: ListRequest, include: string[]): Promise<RowPage<User>> {
  const columns = Object.entries(filterColumns)
  return paginate(panel.db, {
    ...request,
    table: users,
    fields: fieldsOf('user', users, include),
    where: allFilters(
      Object.fromEntries(columns.map(([name, column]) => [name, containing(column)])),
      request.filters,
    ),
    orderBy:
      request.sorts.length > 0
        ? orderOf({ id: users.id, uuid: users.uuid }, request.sorts)
        : columns.flatMap(([name, column]) => exactFirst(column, request.filters[name] ?? [])),
  })
}

/** Integrations filter by e-mail and take the first row: it must not be one that merely contains it. */
function exactFirst(column: PgColumn, values: string[]): SQL[] {
  if (values.length === 0) return []
  const lowered = values.map((value) => value.toLowerCase())
  return [desc(sql`coalesce(${inArray(sql`lower(${column}::text)`, lowered)}, false)`)]
}

/** The account with its included relations. Refuses with 404 when there is none. */
export const findUser = (panel: Panel, id: number, include: string[] = []): Promise<User> =>
  findWhere(panel, eq(users.id, id), include)

/** The account with this external id, to the letter. Refuses with 404 when there is none. */
export const findUserByExternalId = (panel: Panel, externalId: string, include: string[]): Promise<User> =>
  findWhere(panel, eq(users.externalId, externalId), include)

/**
 * Adds an account; one without a password cannot sign in until it has one. Refuses with 422 a user
 * name or e-mail address that is taken, whatever its case, and an external id that is taken.
 */
export async function addUser(panel: Panel, input: UserInput): Promise<User> {
  return storeUser(panel, input, input.password ? await hashPassword(input.password) : null)
}

/** The same with a password that is hashed already, for transactions, which must not wait for that. */
export function storeUser(
  panel: Panel,
  input: Omit<UserInput, 'password'>,
  passwordHash: string | null,
): Promise<User> {
  const values = {
    ...columnsOf(input),
    email: input.email,
    firstName: input.first_name,
    lastName: input.last_name,
    username: input.username.toLowerCase(),
    passwordHash,
  }
  return refusingDuplicates(duplicates, async () =>
    only(await panel.db.insert(users).values(values).returning()),
  )
}

/**
 * Changes the fields that were sent; a new password ends every session of the account, none leaves it
 * as it is. A new password and a demotion also end what daemons know of it: `revocationErrors` names the
 * nodes that could not be told at once after a demotion, which jobs go on telling. Refuses with 404, and
 * with 422 what another account has.
 */
export async function changeUser(
  panel: Panel,
  id: number,
  input: UserChanges,
): Promise<{ user: User; revocationErrors: string[] }> {
  const secret = input.password
    ? { passwordHash: await hashPassword(input.password), authVersion: sql`${users.authVersion} + 1` }
    : {}
  const changes = { ...columnsOf(input), ...secret, updatedAt: panel.now() }
  const { user, revocations } = await refusingDuplicates(duplicates, () =>
    inTransaction(panel, async (inner) => {
      const before = await lockUser(inner, id)
      const after = only(await inner.db.update(users).set(changes).where(eq(users.id, id)).returning())
      const isDemoted = before.rootAdmin && !after.rootAdmin
      if (isDemoted)
        return { user: after, revocations: await enqueueFullRevocation(inner, after, { headStart }) }
      if (input.password) await enqueueOwnRevocation(inner, after)
      return { user: after, revocations: [] }
    }),
  )
  return { user, revocationErrors: await tryRevocations(panel, revocations) }
}

/**
 * Removes an account with its picture, its keys and its access to servers of others, on their nodes too.
 * Refuses with 400 one that owns servers and the actor's own, with 404 when there is none.
 */
export async function removeUser(panel: Panel, id: number): Promise<void> {
  const { actor } = panel
  if (actor.kind === 'user' && actor.user.id === id)
    throw displayError('You cannot remove the account you are using.')
  try {
    const { avatarKey } = await inTransaction(panel, async (inner) => {
      const user = await lockUser(inner, id)
      await (user.rootAdmin ? enqueueFullRevocation(inner, user) : enqueueOwnRevocation(inner, user))
      await inner.db.delete(users).where(eq(users.id, id))
      return user
    })
    discardAvatar(panel, avatarKey)
  } catch (error) {
    if (!foreignKeyViolation(error)) throw error
    throw displayError('An account that owns servers cannot be removed.')
  }
}

async function lockUser(panel: Panel, id: number): Promise<User> {
  const [user] = await panel.db.select().from(users).where(eq(users.id, id)).for('update')
  if (!user) throw notFound()
  return user
}

/** Columns for the fields that were sent, but for the password. */
const columnsOf = (input: UserChanges) => ({
  externalId: input.external_id,
  email: input.email,
  username: input.username?.toLowerCase(),
  firstName: input.first_name,
  lastName: input.last_name,
  language: input.language ?? undefined,
  rootAdmin: input.root_admin ?? undefined,
})

async function findWhere(panel: Panel, where: SQL, include: string[]): Promise<User> {
  const user = await findRow(panel.db, 'user', users, where, include)
  if (!user) throw notFound()
  return user
}
