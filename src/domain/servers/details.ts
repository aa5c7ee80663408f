import { and, eq } from 'drizzle-orm'
import * as z from 'zod'
import { foreignKeyViolation, only } from '../../db/database.ts'
import { servers, subusers, users } from '../../db/schema.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { rowId, text, textBetween } from '../fields.ts'
import { enqueueRevocation } from '../revocations.ts'
import { invalidField, refusingDuplicates } from '../validation.ts'
import { lockServer } from './lock.ts'

/** What is left out is emptied, but for name and owner. Spec: Application API, servers/{server}/details. */
export const DetailsInput = () =>
  z.object({
    external_id: textBetween(1, 191).nullish(),
    name: textBetween(1, 191),
    user: rowId(),
    description: text(65_535).nullish(),
  })
type DetailsInput = z.output<ReturnType<typeof DetailsInput>>

/**
 * Gives a server another name, description, external id and owner. A new owner is no subuser of it any more,
 * and what the former one holds for its daemon is revoked by a job. Refuses with 404, and with 422 an
 * unknown owner and an external id that is taken. Spec: Application API, servers/{server}/details.
 */
export async function changeDetails(panel: Panel, id: number, input: DetailsInput): Promise<void> {
  await inTransaction(panel, async (inside) => {
    const server = await lockServer(inside, id)
    await store(inside, id, input)
    if (server.ownerId !== input.user) await handOver(inside, server, input.user)
  })
}

async function store(panel: Panel, id: number, input: DetailsInput): Promise<void> {
  const changes = {
    externalId: input.external_id ?? null,
    name: input.name,
    ownerId: input.user,
    description: input.description ?? '',
    updatedAt: panel.now(),
  }
  try {
    await refusingDuplicates({ external_id: 'external_id' }, () =>
      panel.db.update(servers).set(changes).where(eq(servers.id, id)),
    )
  } catch (error) {
    if (!foreignKeyViolation(error)) throw error
    throw invalidField('user', 'exists', 'The user does not exist.')
  }
}

async function handOver(panel: Panel, server: Server, ownerId: number): Promise<void> {
  await panel.db.delete(subusers).where(and(eq(subusers.serverId, server.id), eq(subusers.userId, ownerId)))
  const former = only(
    await panel.db.select({ uuid: users.uuid }).from(users).where(eq(users.id, server.ownerId)),
  )
  await enqueueRevocation(panel, {
    userUuid: former.uuid,
    userId: server.ownerId,
    serverIds: [server.id],
  })
}
