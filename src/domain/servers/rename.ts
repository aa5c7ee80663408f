import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { servers } from '../../db/schema.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import type { ReachedServer } from '../credentials.ts'
import { text } from '../fields.ts'
import { lockServer } from './lock.ts'

/**
 * One line for the name; the description may have several. A description that is not sent stays, null empties
 * it. Spec: Client API, settings.
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
 * The server has this name and description; the daemon learns of them when the server starts. Records
 * `server:settings.rename` and `server:settings.description`, each when it is another one than before.
 * Spec: Client API, settings.
 */
export async function renameServer(
  panel: Panel,
  { server: { id } }: Pick<ReachedServer, 'server'>,
  input: RenameInput,
): Promise<void> {
  await inTransaction(panel, async (panel) => {
    const before = await lockServer(panel, id)
    const { name } = input
    const description = input.description === undefined ? before.description : (input.description ?? '')
    const changes = [
      { event: 'server:settings.rename', old: before.name, new: name },
      { event: 'server:settings.description', old: before.description, new: description },
    ] as const
    const real = changes.filter((change) => change.old !== change.new)
    if (real.length === 0) return
    await panel.db
      .update(servers)
      .set({ name, description, updatedAt: panel.now() })
      .where(eq(servers.id, id))
    for (const { event, ...properties } of real) await record(panel, event, { serverId: id, properties })
  })
}
