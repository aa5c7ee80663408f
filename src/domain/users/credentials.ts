import { and, eq, gt, sql, type SQL } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { embedMany } from '../../db/embed.ts'
import { apiKeys, identities, passkeys, sessions, sshKeys, users } from '../../db/schema.ts'
import type { ApiKey } from '../../db/tables/api-keys.ts'
import type { Identity } from '../../db/tables/identities.ts'
import type { Passkey } from '../../db/tables/passkeys.ts'
import type { Session } from '../../db/tables/sessions.ts'
import type { SshKey } from '../../db/tables/ssh-keys.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordSshKeyEvent } from '../accounts/ssh-keys.ts'
import { recordEvent } from '../activity/record.ts'
import { oneKeyLess, recordApiKeyEvent } from '../auth/api-keys.ts'
import { deleteSessions, hasPublicId } from '../auth/sessions.ts'
import { lockUser } from './users.ts'

/** A table whose rows belong to users. */
type Owned = PgTable & { id: PgColumn; userId: PgColumn }

/** Reads what belongs to a user, as one column. Refuses with 404. One statement. */
async function readOfUser<Row>(panel: Panel, id: number, rows: SQL<Row[]>): Promise<Row[]> {
  const [found] = await panel.db.select({ rows }).from(users).where(eq(users.id, id))
  if (!found) throw notFound()
  return found.rows
}

const rowsOf = <T extends Owned>(table: T) =>
  embedMany(table, { where: (row) => eq(row.userId as PgColumn, users.id) })

/** Lists the live sessions of a user, most recently used first. Refuses with 404. */
export const listSessionsOfUser = (panel: Panel, id: number): Promise<Session[]> =>
  readOfUser(
    panel,
    id,
    embedMany(sessions, {
      where: (row) =>
        sql`${and(eq(row.userId, users.id), eq(row.authVersion, users.authVersion), gt(row.expiresAt, panel.now()))}`,
      orderBy: (row) => sql`${row.lastActiveAt} desc, ${row.id}`,
    }),
  )

/** Lists the account keys of a user, oldest first. Refuses with 404. */
export const listApiKeysOfUser = (panel: Panel, id: number): Promise<ApiKey[]> =>
  readOfUser(
    panel,
    id,
    embedMany(apiKeys, { where: (row) => sql`${and(eq(row.userId, users.id), eq(row.type, 'account'))}` }),
  )

/** Lists the SSH keys of a user, oldest first. Refuses with 404. */
export const listSshKeysOfUser = (panel: Panel, id: number): Promise<SshKey[]> =>
  readOfUser(panel, id, rowsOf(sshKeys))

/** Lists the passkeys of a user, oldest first. Refuses with 404. */
export const listPasskeysOfUser = (panel: Panel, id: number): Promise<Passkey[]> =>
  readOfUser(panel, id, rowsOf(passkeys))

/** Lists the linked accounts of a user, oldest first. Refuses with 404. */
export const listIdentitiesOfUser = (panel: Panel, id: number): Promise<Identity[]> =>
  readOfUser(panel, id, rowsOf(identities))

/**
 * Ends one session of a user, or all of them; no browser is known to the account any more. Refuses with 403 an
 * administrator above the caller, with 404. Records `user:session.delete`.
 */
export const endSessionsOfUser = (panel: Panel, id: number, session: string | null): Promise<void> =>
  inTransaction(panel, async (tx) => {
    await lockUser(tx, id)
    const { isAny } = await deleteSessions(tx, id, session === null ? undefined : hasPublicId(session))
    if (session !== null && !isAny) throw notFound()
  })

/** Deletes an account key of a user. Refuses as `deleteOfUser` does. Records `user:api-key.delete`. */
export const removeApiKeyOfUser = (panel: Panel, id: number, identifier: string): Promise<void> =>
  inTransaction(panel, async (tx) => {
    await lockUser(tx, id)
    const isKey = and(eq(apiKeys.identifier, identifier), eq(apiKeys.userId, id), eq(apiKeys.type, 'account'))
    const [key] = await tx.db.delete(apiKeys).where(isKey).returning()
    if (!key) throw notFound()
    await tx.db.update(users).set({ apiKeyCount: oneKeyLess }).where(eq(users.id, id))
    await recordApiKeyEvent(tx, 'user:api-key.delete', key)
  })

/** Deletes an SSH key of a user; open SFTP sessions stay. Refuses as `deleteOfUser` does. Records `user:ssh-key.delete`. */
export const removeSshKeyOfUser = (panel: Panel, id: number, key: number): Promise<void> =>
  inTransaction(panel, async (tx) => {
    await recordSshKeyEvent(tx, 'user:ssh-key.delete', await deleteOfUser<SshKey>(tx, sshKeys, id, key))
  })

/** Deletes a passkey of a user, also their last sign-in method. Refuses as `deleteOfUser` does. Records `user:passkey.delete`. */
export const removePasskeyOfUser = (panel: Panel, id: number, passkey: number): Promise<void> =>
  inTransaction(panel, async (tx) => {
    const { name } = await deleteOfUser<Passkey>(tx, passkeys, id, passkey)
    await recordEvent(tx, 'user:passkey.delete', { userId: id, properties: { name } })
  })

/** Unlinks an account of a user, also their last sign-in method. Refuses as `deleteOfUser` does. Records `user:identity.delete`. */
export const removeIdentityOfUser = (panel: Panel, id: number, identity: number): Promise<void> =>
  inTransaction(panel, async (tx) => {
    const { provider } = await deleteOfUser<Identity>(tx, identities, id, identity)
    await recordEvent(tx, 'user:identity.delete', { userId: id, properties: { provider } })
  })

/** Deletes a row of a user and returns it. Refuses with 403 an administrator above the caller, with 404. */
async function deleteOfUser<Row>(tx: Tx, table: Owned, userId: number, id: number): Promise<Row> {
  await lockUser(tx, userId)
  const [row] = await tx.db
    .delete(table)
    .where(and(eq(table.id, id), eq(table.userId, userId)))
    .returning()
  if (!row) throw notFound()
  return row as Row
}
