import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { servers } from '../../db/schema.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { text } from '../fields.ts'
import type { ServerAccess } from './access.ts'
import { lockServer } from './lock.ts'

/**
 * A name of one line, and a description of any number. A description that is not sent stays, null empties it.
 * Spec: docs/servers.md#settings.
 */
export const RenameInput = () =>
  z.object({
    name: text(191).regex(/^\P{Cc}*$/u, 'regex'),
    description: text(65_535)
      .regex(/^(?:[\t\r\n]|\P{Cc})*$/u, 'regex')
      .nullish(),
  })
type RenameInput = z.output<ReturnType<typeof RenameInput>>

/**
 * Changes name and description of a server; the daemon learns of them when the server starts. Records
 * `server:settings.rename` and `server:settings.description`, each when it differs.
 * Spec: docs/servers.md#settings.
 */
export async function renameServer(
  panel: Panel,
  { server: { id } }: Pick<ServerAccess, 'server'>,
  input: RenameInput,
): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const before = await lockServer(tx, id)
    const { name } = input
    const description = input.description === undefined ? before.description : (input.description ?? '')
    const changes = [
      { event: 'server:settings.rename', old: before.name, new: name },
      { event: 'server:settings.description', old: before.description, new: description },
    ] as const
    const effectiveChanges = changes.filter((change) => change.old !== change.new)
    if (effectiveChanges.length === 0) return
    await tx.db.update(servers).set({ name, description, updatedAt: tx.now() }).where(eq(servers.id, id))
    for (const { event, ...properties } of effectiveChanges)
      await recordEvent(tx, event, { serverId: id, properties })
  })
}
