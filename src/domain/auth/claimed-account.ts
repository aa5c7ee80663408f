import { eq } from 'drizzle-orm'
import { apiKeys, identities, passkeys, sshKeys, users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import type { Tx } from '../../panel.ts'
import { cancelEmailLinks } from '../accounts/email-links.ts'
import { recordEvent } from '../activity/record.ts'
import { recordApiKeyEvent } from './api-keys.ts'

/**
 * Removes what could still sign in to an account whose address was only claimed, when the holder of the address
 * takes it over: API keys, SSH keys, passkeys and linked identities, and a pending change of the address. The
 * caller ends the sessions. Records `user:api-key.delete`, `user:ssh-key.delete`, `user:passkey.delete` and
 * `user:identity.delete`. Spec: docs/accounts.md#forgotten-passwords.
 */
export async function removeClaimedCredentials(tx: Tx, { id: userId, pendingEmail }: User): Promise<void> {
  for (const key of await tx.db.delete(apiKeys).where(eq(apiKeys.userId, userId)).returning())
    await recordApiKeyEvent(tx, 'user:api-key.delete', key)
  for (const { id, fingerprint } of await tx.db
    .delete(sshKeys)
    .where(eq(sshKeys.userId, userId))
    .returning()) {
    const subjects = [{ type: 'ssh_key' as const, id }]
    await recordEvent(tx, 'user:ssh-key.delete', { userId, properties: { fingerprint }, subjects })
  }
  for (const { name } of await tx.db.delete(passkeys).where(eq(passkeys.userId, userId)).returning())
    await recordEvent(tx, 'user:passkey.delete', { userId, properties: { name } })
  for (const { provider } of await tx.db.delete(identities).where(eq(identities.userId, userId)).returning())
    await recordEvent(tx, 'user:identity.delete', { userId, properties: { provider } })
  await tx.db.update(users).set({ apiKeyCount: 0, pendingEmail: null }).where(eq(users.id, userId))
  if (pendingEmail !== null) await cancelEmailLinks(tx, userId, pendingEmail)
}
