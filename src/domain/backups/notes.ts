import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { backups } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { text } from '../fields.ts'
import { lockBackup, toBackupActivity } from './backups.ts'

/** Characters of the notes about a backup. Spec: docs/limits.md#sizes. */
const maxNotesLength = 500

/** The notes about a backup; null, or an empty text, removes them. Spec: docs/backups.md#notes. */
export const BackupNotesInput = () => z.object({ notes: text(maxNotesLength, 0).nullable() })
type BackupNotesInput = z.output<ReturnType<typeof BackupNotesInput>>

/**
 * Replaces the notes about a backup. Refuses with 404. Records `server:backup.notes`, without the text, when it
 * differs. Spec: docs/backups.md#notes.
 */
export async function changeBackupNotes(
  panel: Panel,
  server: { id: number },
  uuid: string,
  input: BackupNotesInput,
): Promise<Backup> {
  const notes = input.notes === '' ? null : input.notes
  return inTransaction(panel, async (tx) => {
    const before = await lockBackup(tx, server, uuid)
    if (before.notes === notes) return before
    const changed = { notes, updatedAt: tx.now() }
    const backup = single(
      await tx.db.update(backups).set(changed).where(eq(backups.id, before.id)).returning(),
    )
    await recordEvent(tx, 'server:backup.notes', toBackupActivity(backup))
    return backup
  })
}
