import { and, asc, eq, sql } from 'drizzle-orm'
import * as z from 'zod'
import { apiKeys, users } from '../../db/schema.ts'
import type { ApiKey } from '../../db/tables/api-keys.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { addApiKey, allowedIps, recordKey } from '../api-keys.ts'
import { callersAccount, lockCallersAccount } from './caller.ts'

/** The description must be sent; null is an empty one. Spec: Client API, account: api-keys. */
export const AccountKeyInput = () =>
  z.object({
    description: z.string().max(500, 'max').nullable(),
    allowed_ips: allowedIps().nullish(),
  })
type AccountKeyInput = z.output<ReturnType<typeof AccountKeyInput>>

/** The caller's account keys in the order in which they were made. Spec: Client API, account: api-keys. */
export function listAccountKeys(panel: Panel): Promise<ApiKey[]> {
  const user = callersAccount(panel)
  return panel.db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.userId, user.id), eq(apiKeys.type, 'account')))
    .orderBy(asc(apiKeys.id))
}

/**
 * Adds a key to the caller's account; `secret` is the second part of the bearer token and is shown once.
 * Refuses with 400 the key beyond the 25th. Records `user:api-key.create`.
 */
export async function addAccountKey(
  panel: Panel,
  input: AccountKeyInput,
): Promise<{ key: ApiKey; secret: string }> {
  return inTransaction(panel, async (panel) => {
    const made = await addApiKey(panel, callersAccount(panel), {
      type: 'account',
      description: input.description ?? '',
      allowedIps: input.allowed_ips ?? [],
    })
    await recordKey(panel, 'user:api-key.create', made.key)
    return made
  })
}

/**
 * Takes one of the caller's account keys away; it works no more. Refuses with 404 keys of others and
 * Application keys. Records `user:api-key.delete`. Spec: Client API, account: api-keys.
 */
export async function removeAccountKey(panel: Panel, identifier: string): Promise<void> {
  await inTransaction(panel, async (panel) => {
    const user = await lockCallersAccount(panel)
    const [key] = await panel.db
      .delete(apiKeys)
      .where(
        and(eq(apiKeys.identifier, identifier), eq(apiKeys.userId, user.id), eq(apiKeys.type, 'account')),
      )
      .returning()
    if (!key) throw notFound()
    await panel.db
      .update(users)
      .set({ apiKeyCount: sql`${users.apiKeyCount} - 1` })
      .where(eq(users.id, user.id))
    await recordKey(panel, 'user:api-key.delete', key)
  })
}
