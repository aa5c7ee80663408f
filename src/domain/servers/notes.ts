import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { serverNotes, servers } from '../../db/schema.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Tx } from '../../panel.ts'
import { text } from '../fields.ts'
import { recordServerEvent } from './audit.ts'
import { lockServer } from './lock.ts'

const maxNotesLength = 65_535

/** The notes about a server; null, or an empty text, removes them. */
export const NotesInput = () => z.object({ notes: text(maxNotesLength).nullable() })
type NotesInput = z.output<ReturnType<typeof NotesInput>>

/** The notes about a server; `updatedAt` is null while there were none. */
export type FoundNotes = { serverId: number; notes: string; updatedAt: Date | null }

/** Finds the notes of administrators about a server. Refuses with 404. */
export async function findNotes(tx: Tx, serverId: number): Promise<FoundNotes> {
  const [found] = await tx.db
    .select({ serverId: servers.id, notes: serverNotes.notes, updatedAt: serverNotes.updatedAt })
    .from(servers)
    .leftJoin(serverNotes, eq(serverNotes.id, servers.id))
    .where(eq(servers.id, serverId))
  if (!found) throw notFound()
  return { ...found, notes: found.notes ?? '' }
}

/**
 * Replaces the notes of administrators about a server. Refuses with 404. Records `admin:server.notes`, without the
 * text, when it differs.
 */
export async function changeNotes(panel: Tx, serverId: number, input: NotesInput): Promise<FoundNotes> {
  const notes = input.notes ?? ''
  return inTransaction(panel, async (tx) => {
    const server = await lockServer(tx, serverId)
    const before = await findNotes(tx, serverId)
    if (before.notes === notes) return before
    const values = { notes, updatedAt: tx.now() }
    const { updatedAt } = single(
      await tx.db
        .insert(serverNotes)
        .values({ id: serverId, ...values })
        .onConflictDoUpdate({ target: serverNotes.id, set: values })
        .returning(),
    )
    await recordServerEvent(tx, 'admin:server.notes', server)
    return { serverId, notes, updatedAt }
  })
}
