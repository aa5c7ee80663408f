import { and, eq } from 'drizzle-orm'
import * as z from 'zod'
import { paginate, type RowPage } from '../db/pagination.ts'
import { apiKeys, users } from '../db/schema.ts'
import { type Acl, type ApiKey, type AclResource, aclResources } from '../db/tables/api-keys.ts'
import { forbidden, notFound } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { addApiKey, allowedIps, recordKey } from './api-keys.ts'
import { closedObject } from './closed-object.ts'
import { integer, rowId } from './fields.ts'
import { allFilters, containing, type ListRequest } from './filters.ts'
import { invalidField } from './validation.ts'

const Level = () => integer(0, 3).nullish().describe('0 nothing, 1 read, 2 write, 3 both')

/** Levels by resource; what is left out is 0. Spec: Authentication, 2. */
const AclInput = () => closedObject(Object.fromEntries(aclResources.map((resource) => [resource, Level()])))

/** What an Application key is made of; it belongs to the caller unless another administrator is named. */
export const ApplicationKeyInput = () =>
  z.object({
    description: z.string().max(500, 'max').nullish(),
    allowed_ips: allowedIps()
      .nullish()
      .describe('Addresses and CIDR ranges from which the key works; every address when left out'),
    acl: AclInput().describe('Level on each resource; what is left out is 0'),
    user_id: rowId().nullish().describe('Administrator to whom the key belongs; the caller when left out'),
    expires_at: z.iso
      .datetime({ offset: true, error: 'date' })
      .nullish()
      .describe('After this instant the key is refused; never when left out'),
  })
type ApplicationKeyInput = z.output<ReturnType<typeof ApplicationKeyInput>>

const filterColumns = { identifier: apiKeys.identifier, description: apiKeys.description }

/** Fields that `filter` takes. */
export const applicationKeyFilters = Object.keys(filterColumns)

/** One page of the Application keys of all administrators, in the order in which they were made. */
export function listApplicationKeys(panel: Panel, request: ListRequest): Promise<RowPage<ApiKey>> {
  const filters = Object.entries(filterColumns).map(([name, column]) => [name, containing(column)] as const)
  return paginate(panel.db, {
    ...request,
    table: apiKeys,
    where: and(eq(apiKeys.type, 'application'), allFilters(Object.fromEntries(filters), request.filters)),
  })
}

/**
 * Adds an Application key. `secret` is the second part of the bearer token and is shown once. Refuses
 * with 403 levels which the caller's own key does not hold, with 422 an owner who is no administrator and
 * an instant that is over. Records `user:api-key.create`.
 */
export async function addApplicationKey(
  panel: Panel,
  input: ApplicationKeyInput,
): Promise<{ key: ApiKey; secret: string }> {
  const acl = levelsOf(input.acl)
  requireHeld(panel, acl)
  const expiresAt = input.expires_at ? new Date(input.expires_at) : null
  if (expiresAt && expiresAt <= panel.now())
    throw invalidField('expires_at', 'after', 'The expires_at field must be an instant to come.')
  return inTransaction(panel, async (panel) => {
    const owner = await findOwner(panel, input.user_id ?? null)
    const made = await addApiKey(panel, owner, {
      type: 'application',
      description: input.description ?? '',
      allowedIps: input.allowed_ips ?? [],
      acl,
      expiresAt,
    })
    await recordKey(panel, 'user:api-key.create', made.key)
    return made
  })
}

/** Takes an Application key away, whoever holds it. Refuses with 404. Records `user:api-key.delete`. */
export async function removeApplicationKey(panel: Panel, identifier: string): Promise<void> {
  await inTransaction(panel, async (panel) => {
    const [key] = await panel.db
      .delete(apiKeys)
      .where(and(eq(apiKeys.identifier, identifier), eq(apiKeys.type, 'application')))
      .returning()
    if (!key) throw notFound()
    await recordKey(panel, 'user:api-key.delete', key)
  })
}

const levelsOf = (sent: Record<string, unknown>): Acl =>
  Object.fromEntries(
    aclResources.flatMap((resource) => (sent[resource] ? [[resource, sent[resource]]] : [])),
  ) as Acl

/** Nobody hands on more than he holds. */
function requireHeld(panel: Panel, acl: Acl): void {
  const { actor } = panel
  const held: Acl = (actor.kind === 'user' && actor.apiKey?.acl) || {}
  const exceeding = (Object.keys(acl) as AclResource[]).filter(
    (resource) => ((acl[resource] ?? 0) & ~(held[resource] ?? 0)) !== 0,
  )
  if (exceeding.length > 0)
    throw forbidden(`Your key does not hold these levels itself: ${exceeding.join(', ')}.`)
}

async function findOwner(panel: Panel, id: number | null): Promise<{ id: number }> {
  if (id === null) {
    if (panel.actor.kind !== 'user') throw forbidden('A key belongs to an administrator.')
    return panel.actor.user
  }
  const [owner] = await panel.db
    .select({ id: users.id, rootAdmin: users.rootAdmin })
    .from(users)
    .where(eq(users.id, id))
  if (!owner) throw invalidField('user_id', 'exists', 'The user_id field does not exist.')
  if (!owner.rootAdmin) throw invalidField('user_id', 'in', 'This account is no administrator.')
  return owner
}
