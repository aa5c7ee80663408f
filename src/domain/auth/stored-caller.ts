import { and, eq } from 'drizzle-orm'
import { rowColumn } from '../../db/embed.ts'
import { apiKeys, users } from '../../db/schema.ts'
import { forbidden, unauthenticated } from '../../errors.ts'
import { isAllowedAddress } from '../../ip-addresses.ts'
import type { Actor, Tx } from '../../panel.ts'
import { effectiveAcl, sharedLevels } from './access-levels.ts'
import { administratorAcl, roleAclColumn } from './administrators.ts'
import { requireUnsuspended } from './caller.ts'
import { requireAdministrator } from './credentials.ts'
import { twoFactorSettingColumn } from './two-factor-policy.ts'

/** An administrator whose request goes on in a job, with the key and the address they used. */
export type StoredCaller = { userId: number; apiKeyId: number | null; ip: string }

/**
 * Finds an administrator again for work that outlives their request, with the levels that they and their key have now.
 * Refuses with 401 when the account or the key is gone or expired; with 403 a suspended account, one that is no
 * administrator any more, and an address that the key does not allow; with 400 one without a required second factor.
 * Spec: docs/rules.md#az-6.
 */
export async function findStoredCaller(panel: Tx, { userId, apiKeyId, ip }: StoredCaller): Promise<Actor> {
  const isKey = and(
    eq(apiKeys.id, apiKeyId ?? 0),
    eq(apiKeys.userId, users.id),
    eq(apiKeys.type, 'application'),
  )
  const [row] = await panel.db
    .select({
      user: rowColumn(users),
      required: twoFactorSettingColumn(),
      roleAcl: roleAclColumn(),
      key: rowColumn(apiKeys),
    })
    .from(users)
    .leftJoin(apiKeys, isKey)
    .where(eq(users.id, userId))
  if (!row) throw unauthenticated('account_deleted', 'The account was deleted.')
  const { user, key } = row
  requireUnsuspended(user)
  requireAdministrator(user, row.required)
  const levels = administratorAcl(user, row.roleAcl)
  if (apiKeyId === null) return { kind: 'user', user, apiKey: null, acl: levels }
  const isExpired = key?.expiresAt && key.expiresAt <= panel.now()
  if (!key || isExpired) throw unauthenticated('key_ended', 'The key was deleted or has expired.')
  if (!isAllowedAddress(ip, key.allowedIps))
    throw forbidden('key_refuses_address', 'This key may not be used from your address.')
  return { kind: 'user', user, apiKey: { id: key.id }, acl: sharedLevels(effectiveAcl(key.acl), levels) }
}
