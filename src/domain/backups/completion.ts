import { and, eq, isNull } from 'drizzle-orm'
import * as z from 'zod'
import type { MultipartUploads } from '../../adapters/objects.ts'
import { backups, servers } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { badRequest, unavailable } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { boolean, integer, text } from '../fields.ts'
import type { JobPayloads } from '../jobs/enqueue.ts'
import { notifyUsers } from '../notifications/notify.ts'
import { lockServer } from '../servers/lock.ts'
import { archiveKey, callObjectStore, enqueueStoredArchiveDiscard } from './archives.ts'
import { toBackupActivity, toBackupNotification } from './backups.ts'
import { hasFreeBackupSlot, tooManyBackups } from './limits.ts'
import { backupNotFound, findActiveNodeBackup, type ServerBackup } from './node-backups.ts'
import { removeBackupsBeyond } from './rotation.ts'

const maxPartNumber = 10_000

/**
 * A daemon's report on a finished backup; a failure has no checksum, size or parts. Wings: POST /backups/{uuid}.
 */
export const BackupReport = () =>
  z
    .object({
      successful: boolean(),
      checksum: text(255).nullish(),
      checksum_type: text(32).nullish(),
      size: integer(0, Number.MAX_SAFE_INTEGER).nullish(),
      parts: z
        .array(z.object({ etag: text(255), part_number: integer(1, maxPartNumber) }))
        .max(maxPartNumber)
        .nullish(),
    })
    .superRefine((report, context) => {
      if (!report.successful) return
      for (const name of ['checksum', 'checksum_type', 'size'] as const) {
        if ((report[name] ?? null) === null)
          context.addIssue({ code: 'custom', path: [name], message: 'required' })
      }
    })
type BackupReport = z.output<ReturnType<typeof BackupReport>>

/**
 * Applies the report of a daemon: the backup becomes successful with its checksum and size, or failed and
 * unlocked. A failure may be reported again. An archive in the object store is completed from its parts and
 * checked before it counts.
 *
 * Records `server:backup.complete` or `server:backup.fail`. Refuses with 400 and fails the backup when its
 * archive is incomplete in the store or no upload was opened; with 400 a successful backup, and a failed one
 * whose slot is taken; with 404 an unknown backup and with 403 one of another node; with 503, changing nothing,
 * when the store fails. Spec: docs/backups.md#states.
 */
export async function applyBackupReport(
  panel: Panel,
  node: Node,
  uuid: string,
  report: BackupReport,
): Promise<void> {
  const found = await findActiveNodeBackup(panel, node, uuid)
  if (found.backup.isSuccessful) throw backupAlreadySuccessful()
  if (!report.successful) return failBackup(panel, found)
  if (found.backup.disk === 's3' && !(await completeStoredArchive(panel, found, report))) {
    await failBackup(panel, found)
    throw badRequest('callback_refused', 'The archive in the object store is incomplete.')
  }
  await completeBackup(panel, found, report)
}

/**
 * Whether the store has the archive in the reported size, completed now or by an earlier report whose answer was
 * lost.
 */
async function completeStoredArchive(
  panel: Panel,
  found: ServerBackup,
  report: BackupReport,
): Promise<boolean> {
  const { uploadId } = found.backup
  const parts = report.parts ?? []
  if (!uploadId || parts.length === 0) return false
  const uploads = panel.objects.multipart
  if (!uploads) throw unavailable('callback_refused', 'The object store does not accept multipart uploads.')
  return callObjectStore(() =>
    completeUpload(uploads, archiveKey(found), { uploadId, parts, size: report.size }),
  )
}

async function completeUpload(
  uploads: MultipartUploads,
  key: string,
  upload: Pick<BackupReport, 'size'> & { uploadId: string; parts: NonNullable<BackupReport['parts']> },
): Promise<boolean> {
  const parts = upload.parts.map(({ etag, part_number }) => ({ tag: etag, partNumber: part_number }))
  if ((await uploads.complete(key, upload.uploadId, parts)) === 'refused') return false
  const archive = await uploads.head(key)
  return archive?.size === upload.size
}

async function completeBackup(panel: Panel, found: ServerBackup, report: BackupReport): Promise<void> {
  const refusal = await inTransaction(panel, async (tx) => {
    const server = await lockServer(tx, found.server.id)
    const [backup] = await tx.db.select().from(backups).where(eq(backups.id, found.backup.id)).for('update')
    if (!backup || backup.deletingAt) return backupNotFound()
    if (backup.isSuccessful) return backupAlreadySuccessful()
    // A failed backup does not count, so another one may have taken its slot.
    if (backup.completedAt && !(await hasFreeBackupSlot(tx, server))) return tooManyBackups()
    const now = tx.now()
    await tx.db
      .update(backups)
      .set({
        isSuccessful: true,
        checksum: `${report.checksum_type}:${report.checksum}`,
        bytes: report.size ?? 0,
        completedAt: now,
        uploadId: null,
        updatedAt: now,
      })
      .where(eq(backups.id, backup.id))
    await recordEvent(tx, 'server:backup.complete', toBackupActivity(backup))
    await notifyUsers(tx, 'backup.completed', toBackupNotification(backup))
    await removeBackupsBeyond(tx, backup)
    return null
  })
  if (!refusal) return
  // The job keeps the archive when another report has completed the backup.
  if (found.backup.disk === 's3') await enqueueStoredArchiveDiscard(panel, found)
  throw refusal
}

/** Creates the 400 for a report on a backup that is already successful. Spec: docs/backups.md#states. */
export const backupAlreadySuccessful = () =>
  badRequest('callback_refused', 'The backup is already successful.')

/**
 * Marks a backup as failed and unlocks it; one that failed before stays as it is. A job deletes what the object
 * store has of it. Records `server:backup.fail`. Refuses with 400 a successful one, with 404 one that is gone or
 * being removed. Spec: docs/backups.md#states.
 */
export async function failBackup(
  panel: Panel,
  { backup, server }: { backup: Pick<Backup, 'id'>; server: Pick<Server, 'id' | 'uuid'> },
): Promise<void> {
  const now = panel.now()
  await inTransaction(panel, async (tx) => {
    await lockServer(tx, server.id)
    const [locked] = await tx.db.select().from(backups).where(eq(backups.id, backup.id)).for('update')
    if (!locked || locked.deletingAt) throw backupNotFound()
    if (locked.isSuccessful) throw backupAlreadySuccessful()
    if (locked.completedAt) return
    await tx.db
      .update(backups)
      .set({ isLocked: false, bytes: 0, checksum: null, completedAt: now, uploadId: null, updatedAt: now })
      .where(eq(backups.id, locked.id))
    await recordEvent(tx, 'server:backup.fail', toBackupActivity(locked))
    await notifyUsers(tx, 'backup.failed', toBackupNotification(locked))
    if (locked.disk === 's3') await enqueueStoredArchiveDiscard(tx, { backup: locked, server })
  })
}

/** Job: fails a backup on which no daemon reported before its deadline. Spec: docs/backups.md#deadlines. */
export async function expireBackup(panel: Panel, { backupId }: JobPayloads['expire-backup']): Promise<void> {
  const [running] = await panel.db
    .select({ backup: backups, server: servers })
    .from(backups)
    .innerJoin(servers, eq(servers.id, backups.serverId))
    .where(and(eq(backups.id, backupId), isNull(backups.completedAt), isNull(backups.deletingAt)))
  if (running) await failBackup(panel, running)
}
