import { and, eq } from 'drizzle-orm'
import * as z from 'zod'
import { isForeignKeyViolation, single } from '../../db/database.ts'
import { servers, subusers, users } from '../../db/schema.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { rowId, text, textBetween } from '../fields.ts'
import { enqueueRevocation } from '../nodes/access-revocations.ts'
import { invalidField, rejectDuplicates } from '../validation.ts'
import { recordServerUpdate } from './audit.ts'
import { lockServer } from './lock.ts'
import { requireExpectedVersion, versionOf } from '../versions.ts'

/**
 * The details of a server; what is left out is emptied, except name and owner.
 * Spec: patchApplicationServersByServerDetails.
 */
export const DetailsInput = () =>
  z.object({
    external_id: textBetween(1, 191).nullish(),
    name: textBetween(1, 191),
    user: rowId(),
    description: text(65_535).nullish(),
  })
type DetailsInput = z.output<ReturnType<typeof DetailsInput>>

/**
 * Changes name, description, external id and owner of a server. A new owner stops being its subuser, and a job
 * revokes the former owner's access on the daemon. Refuses with 404, with 422 an unknown owner and an external
 * id that is taken. Records `admin:server.details`. Spec: patchApplicationServersByServerDetails.
 */
export async function changeDetails(panel: Panel, id: number, input: DetailsInput): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const server = await lockServer(tx, id)
    requireExpectedVersion(tx, versionOf(server))
    const after = await storeDetails(tx, id, input)
    await recordServerUpdate(tx, 'admin:server.details', server, after)
    if (server.ownerId !== input.user) await transferOwnership(tx, server, input.user)
  })
}

async function storeDetails(tx: Tx, id: number, input: DetailsInput): Promise<Server> {
  const changes = {
    externalId: input.external_id ?? null,
    name: input.name,
    ownerId: input.user,
    description: input.description ?? '',
    updatedAt: tx.now(),
  }
  try {
    return await rejectDuplicates({ external_id: 'external_id' }, async () =>
      single(await tx.db.update(servers).set(changes).where(eq(servers.id, id)).returning()),
    )
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw invalidField('user', 'exists', 'The user does not exist.')
  }
}

async function transferOwnership(tx: Tx, server: Server, ownerId: number): Promise<void> {
  await tx.db.delete(subusers).where(and(eq(subusers.serverId, server.id), eq(subusers.userId, ownerId)))
  const formerOwner = single(
    await tx.db.select({ uuid: users.uuid }).from(users).where(eq(users.id, server.ownerId)),
  )
  await enqueueRevocation(tx, {
    userUuid: formerOwner.uuid,
    userId: server.ownerId,
    serverIds: [server.id],
  })
}
