import { and, asc, eq, lt, sql } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { paginate, type RowPage } from '../../db/pagination.ts'
import { apiKeys, users } from '../../db/schema.ts'
import { type Acl, aclResources, type ApiKey } from '../../db/tables/api-keys.ts'
import { displayError, forbidden, notFound, unauthenticated } from '../../errors.ts'
import { canonicalRange, isAddressRange, isRangeWithin } from '../../ip-addresses.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { integer, rowId, strictObject } from '../fields.ts'
import { combineFilters, containsFilter, type ListRequest } from '../filters.ts'
import { digest, randomText } from '../secrets.ts'
import { invalidField } from '../validation.ts'
import { completeAcl } from './access-levels.ts'
import { isAdministrator, requireLevelsOf } from './administrators.ts'
import { callerKeyId, lockCaller, requireCaller } from './caller.ts'
import { requireOwnLevels, toAcl } from './granted-levels.ts'

/** API keys per account. Spec: docs/limits.md#sizes. */
const maxAccountKeys = 25

/** The counter of an account whose key was deleted. Keys that moved here beyond the limit are not counted. */
export const oneKeyLess = sql`greatest(${users.apiKeyCount} - 1, 0)`

/** Validates the addresses and CIDR ranges from which a key works. Spec: docs/accounts.md#api-keys. */
export const allowedIpsField = () =>
  z
    .array(
      z
        .string()
        .max(64, 'max')
        .refine(isAddressRange, { error: () => '' }),
    )
    .max(50, 'max')

export type ApiKeyInput = {
  type: ApiKey['type']
  description: string
  /** Stored in canonical form. An entry that is not a range matches no address. */
  allowedIps?: string[]
  /** Levels of an Application key, by resource; 0 when left out. */
  acl?: Acl
  /** The key is refused from this time on; null never expires. */
  expiresAt?: Date | null
}

/**
 * Creates an API key. `secret` is the second part of the bearer token; it is shown once and only its hash
 * is stored. Refuses with 400 the 26th account key, also under parallel requests. Records
 * `user:api-key.create`.
 */
export async function addApiKey(
  tx: Tx,
  user: { id: number },
  input: ApiKeyInput,
): Promise<{ key: ApiKey; secret: string }> {
  const secret = randomText(32)
  const secretHash = digest(secret)
  const key = await inTransaction(tx, async (tx) => {
    if (input.type === 'account') await reserveKeySlot(tx, user)
    const added = single(
      await tx.db
        .insert(apiKeys)
        .values({
          userId: user.id,
          type: input.type,
          identifier: (input.type === 'account' ? 'ptlc_' : 'ptla_') + randomText(11),
          secretHash,
          description: input.description,
          allowedIps: (input.allowedIps ?? []).map((range) => canonicalRange(range) ?? range),
          acl: input.type === 'application' ? completeAcl(input.acl ?? {}) : {},
          expiresAt: input.expiresAt ?? null,
        })
        .returning(),
    )
    await recordApiKeyEvent(tx, 'user:api-key.create', added)
    return added
  })
  return { key, secret }
}

async function reserveKeySlot(tx: Tx, user: { id: number }): Promise<void> {
  const reserved = await tx.db
    .update(users)
    .set({ apiKeyCount: sql`${users.apiKeyCount} + 1` })
    .where(and(eq(users.id, user.id), lt(users.apiKeyCount, maxAccountKeys)))
    .returning({ id: users.id })
  if (reserved.length === 0)
    throw displayError('too_many_api_keys', `An account can have at most ${maxAccountKeys} API keys.`, {
      values: { max: maxAccountKeys },
    })
}

/** Records the event on the account that owns the key. */
export const recordApiKeyEvent = (
  tx: Tx,
  event: 'user:api-key.create' | 'user:api-key.delete',
  key: ApiKey,
) =>
  recordEvent(tx, event, {
    userId: key.userId,
    properties: { identifier: key.identifier },
    subjects: [{ type: 'api_key', id: key.id }],
  })

/** The description is required; null is stored as an empty text. Spec: docs/accounts.md#api-keys. */
export const AccountApiKeyInput = () =>
  z.object({
    description: z.string().max(500, 'max').nullable(),
    allowed_ips: allowedIpsField().nullish(),
  })
type AccountApiKeyInput = z.output<ReturnType<typeof AccountApiKeyInput>>

/** Lists the caller's account keys, oldest first; the one of the request is used now. Spec: docs/accounts.md#api-keys. */
export async function listAccountApiKeys(panel: Panel): Promise<ApiKey[]> {
  const user = requireCaller(panel)
  const usedId = callerKeyId(panel)
  const keys = await panel.db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.userId, user.id), eq(apiKeys.type, 'account')))
    .orderBy(asc(apiKeys.id))
  return keys.map((key) => (key.id === usedId ? { ...key, lastUsedAt: panel.now() } : key))
}

/**
 * Creates an API key for the caller's account. `secret` is the second part of the bearer token and is shown
 * once. Refuses with 400 the 26th key. Records `user:api-key.create`.
 */
export async function addAccountApiKey(
  panel: Panel,
  input: AccountApiKeyInput,
): Promise<{ key: ApiKey; secret: string }> {
  return inTransaction(panel, async (tx) => {
    return addApiKey(tx, await lockCaller(tx), {
      type: 'account',
      description: input.description ?? '',
      allowedIps: input.allowed_ips ?? [],
    })
  })
}

/**
 * Deletes one of the caller's account keys. Refuses with 404 Application keys and keys of other accounts.
 * Records `user:api-key.delete`. Spec: docs/accounts.md#api-keys.
 */
export async function removeAccountApiKey(panel: Panel, identifier: string): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const user = await lockCaller(tx)
    const [key] = await tx.db
      .delete(apiKeys)
      .where(
        and(eq(apiKeys.identifier, identifier), eq(apiKeys.userId, user.id), eq(apiKeys.type, 'account')),
      )
      .returning()
    if (!key) throw notFound()
    await tx.db.update(users).set({ apiKeyCount: oneKeyLess }).where(eq(users.id, user.id))
    await recordApiKeyEvent(tx, 'user:api-key.delete', key)
  })
}

const AclLevel = () => integer(0, 3).nullish().describe('0 none, 1 read, 2 write, 3 read and write')

/** Levels by resource; an omitted resource is 0. Spec: docs/api.md#application-credentials. */
const AclInput = () =>
  strictObject(Object.fromEntries(aclResources.map((resource) => [resource, AclLevel()])))

/** Input of an Application key. It belongs to the caller unless `user_id` names another administrator. */
export const ApplicationKeyInput = () =>
  z.object({
    description: z.string().max(500, 'max').nullish(),
    allowed_ips: allowedIpsField()
      .nullish()
      .describe("Addresses and CIDR ranges from which the key works; those of the caller's key when omitted"),
    acl: AclInput().describe('Level for each resource; 0 when omitted'),
    user_id: rowId().nullish().describe('Administrator who owns the key; the caller when omitted'),
    expires_at: z.iso
      .datetime({ offset: true, error: 'date' })
      .nullish()
      .describe("Time from which the key is refused; that of the caller's key when omitted"),
  })
type ApplicationKeyInput = z.output<ReturnType<typeof ApplicationKeyInput>>

const filterColumns = { identifier: apiKeys.identifier, description: apiKeys.description }

/** Names of the fields that `filter` accepts. */
export const applicationKeyFilters = Object.keys(filterColumns)

/** Lists one page of the Application keys of all administrators, oldest first. */
export function listApplicationKeys(panel: Panel, request: ListRequest): Promise<RowPage<ApiKey>> {
  const filters = Object.entries(filterColumns).map(
    ([name, column]) => [name, containsFilter(column)] as const,
  )
  return paginate(panel.db, {
    ...request,
    table: apiKeys,
    where: eq(apiKeys.type, 'application'),
    search: combineFilters(Object.fromEntries(filters), request.filters),
  })
}

/**
 * Creates an Application key. `secret` is the second part of the bearer token and is shown once. Addresses
 * and expiry that are left out are those of the caller's own key; a browser session has no such bounds. Refuses with
 * 403 levels that the caller does not have, also as those of the owner, and addresses and an expiry beyond those of the
 * caller's own key; with 422 an owner who is not an administrator and
 * an `expires_at` in the past. Records `user:api-key.create`.
 */
export async function addApplicationKey(
  panel: Panel,
  input: ApplicationKeyInput,
): Promise<{ key: ApiKey; secret: string }> {
  const acl = toAcl(input.acl)
  requireOwnLevels(panel, acl)
  const expiresAt = input.expires_at ? new Date(input.expires_at) : null
  if (expiresAt && expiresAt <= panel.now())
    throw invalidField('expires_at', 'after', 'The expires_at field must be a time in the future.', {
      reason: 'expiry_in_past',
    })
  return inTransaction(panel, async (tx) => {
    const bounds = limitToOwnKey(await lockOwnKey(tx), { allowedIps: input.allowed_ips ?? [], expiresAt })
    const owner = await findOwner(tx, input.user_id ?? null)
    return addApiKey(tx, owner, {
      type: 'application',
      description: input.description ?? '',
      acl,
      ...bounds,
    })
  })
}

/**
 * Deletes an Application key of any administrator. Refuses with 404, with 403 a key of one who has more levels than the
 * caller. Records `user:api-key.delete`.
 */
export async function removeApplicationKey(panel: Panel, identifier: string): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const [key] = await tx.db
      .delete(apiKeys)
      .where(and(eq(apiKeys.identifier, identifier), eq(apiKeys.type, 'application')))
      .returning()
    if (!key) throw notFound()
    await requireLevelsOf(tx, await findKeyOwner(tx, key))
    await recordApiKeyEvent(tx, 'user:api-key.delete', key)
  })
}

const findKeyOwner = async (tx: Tx, { userId }: ApiKey) =>
  single(await tx.db.select().from(users).where(eq(users.id, userId)))

type KeyBounds = Pick<ApiKey, 'allowedIps' | 'expiresAt'>

/** Locks the caller's own key or account against deletion. Refuses with 401 when it no longer exists. */
async function lockOwnKey(tx: Tx): Promise<KeyBounds> {
  const { actor } = tx
  if (actor.kind === 'user' && actor.session) {
    await lockCaller(tx)
    return { allowedIps: [], expiresAt: null }
  }
  const [ownKey] = await tx.db
    .select({ allowedIps: apiKeys.allowedIps, expiresAt: apiKeys.expiresAt })
    .from(apiKeys)
    .where(eq(apiKeys.id, callerKeyId(tx) ?? 0))
    .for('key share')
  if (!ownKey) throw unauthenticated()
  return ownKey
}

/** Fills in what is left out from the caller's own key. Refuses with 403 what exceeds it. */
function limitToOwnKey(own: KeyBounds, wanted: KeyBounds): KeyBounds {
  const foreignRanges = wanted.allowedIps.filter((range) => !isRangeWithin(range, own.allowedIps))
  if (foreignRanges.length > 0)
    throw forbidden(
      'addresses_beyond_own_key',
      `Your own key does not work from these addresses: ${foreignRanges.join(', ')}.`,
      { values: { addresses: foreignRanges.join(', ') } },
    )
  const expiresAt = wanted.expiresAt ?? own.expiresAt
  if (own.expiresAt && expiresAt && expiresAt > own.expiresAt)
    throw forbidden('expiry_beyond_own_key', 'A key cannot expire later than the key that creates it.')
  return { allowedIps: wanted.allowedIps.length > 0 ? wanted.allowedIps : own.allowedIps, expiresAt }
}

async function findOwner(tx: Tx, id: number | null): Promise<{ id: number }> {
  if (id === null) return requireCaller(tx)
  const [owner] = await tx.db
    .select({ id: users.id, rootAdmin: users.rootAdmin, roleId: users.roleId })
    .from(users)
    .where(eq(users.id, id))
  if (!owner) throw invalidField('user_id', 'exists', 'The user_id field does not exist.')
  if (!isAdministrator(owner))
    throw invalidField('user_id', 'in', 'The owner of an Application key must be an administrator.', {
      reason: 'key_owner_not_administrator',
    })
  await requireLevelsOf(tx, owner)
  return owner
}
