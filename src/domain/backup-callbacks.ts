import { and, eq, gt, isNull } from 'drizzle-orm'
import * as z from 'zod'
import type { MultipartUploads } from '../adapters/objects.ts'
import { activity, backups, servers } from '../db/schema.ts'
import type { Backup } from '../db/tables/backups.ts'
import type { Node } from '../db/tables/nodes.ts'
import { badRequest, unavailable } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { type EventName, record } from './activity.ts'
import { archiveKey, throughStore } from './backup-uploads.ts'
import { boolean, integer, text } from './fields.ts'
import { enqueue } from './jobs.ts'
import { findKeptBackup, findNodeBackup, type ServerBackup, unknownBackup } from './node-backups.ts'

const mostPartNumbers = 10_000
/** Seconds for which a daemon repeats a report whose answer was lost, and longer. */
const repeatSeconds = 60
/** Seconds which a daemon needs at most to note that a restoration is over, once it has our answer. */
const settlingSeconds = 15

/** How a backup ended, as its daemon says: a failure has no checksum, size or parts. Wings: POST /backups/{uuid}. */
export const BackupReport = () =>
  z
    .object({
      successful: boolean(),
      checksum: text(255).nullish(),
      checksum_type: text(32).nullish(),
      size: integer(0, Number.MAX_SAFE_INTEGER).nullish(),
      parts: z
        .array(z.object({ etag: text(255), part_number: integer(1, mostPartNumbers) }))
        .max(mostPartNumbers)
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

/** How a restoration ended; no word is a failure. Wings: POST /backups/{uuid}/restore. */
export const RestorationReport = () => z.object({ successful: boolean().nullish() })
type RestorationReport = z.output<ReturnType<typeof RestorationReport>>

/**
 * The backup is successful, with its checksum and size, or failed and unlocked; a failure may be reported
 * again. An archive in the object store is joined from its parts and looked at before it counts: one that is
 * not whole there, or for which no upload was opened, fails the backup and is refused with 400. Refuses with
 * 400 a backup that is already successful, with 404 and 403 one that is not there or not the node's, with 503
 * when the store fails, which changes nothing. Records `server:backup.complete` or `server:backup.fail`.
 * Spec: States and transitions, backup.
 */
export async function finishBackup(
  panel: Panel,
  node: Node,
  uuid: string,
  report: BackupReport,
): Promise<void> {
  const found = await findKeptBackup(panel, node, uuid)
  if (found.backup.isSuccessful) throw alreadySuccessful()
  if (!report.successful) return failBackup(panel, found)
  if (found.backup.disk === 's3' && !(await isStored(panel, found, report))) {
    await failBackup(panel, found)
    throw badRequest('The archive is not whole in the object store.')
  }
  await completeBackup(panel, found, report)
}

/**
 * A server that was being restored is normal again, any other status stays. Records
 * `server:backup.restore-complete` or `server.backup.restore-failed`, once for a report that comes again
 * within a minute. The daemon forgets that a server is suspended when it has restored it, so that it is told
 * again. Refuses with 404 and 403 a backup that is not there or not the node's. Spec: States and transitions,
 * server status.
 */
export async function finishRestoration(
  panel: Panel,
  node: Node,
  uuid: string,
  { successful }: RestorationReport,
): Promise<void> {
  const { backup, server } = await findNodeBackup(panel, node, uuid)
  const event = successful ? 'server:backup.restore-complete' : 'server.backup.restore-failed'
  const now = panel.now()
  await inTransaction(panel, async (inside) => {
    const { db } = inside
    const [locked] = await db
      .select({ status: servers.status })
      .from(servers)
      .where(eq(servers.id, server.id))
      .for('update')
    if (!locked) throw unknownBackup()
    const isFirst = locked.status === 'restoring_backup'
    if (isFirst) {
      await db.update(servers).set({ status: null, updatedAt: now }).where(eq(servers.id, server.id))
    }
    if (isFirst || !(await isRecorded(inside, event, server)))
      await record(inside, event, occurrenceOf(backup))
    if (locked.status === 'suspended') {
      const runAt = new Date(now.getTime() + settlingSeconds * 1000)
      await enqueue(inside, 'sync-server', { serverId: server.id }, { runAt })
    }
  })
}

const alreadySuccessful = () => badRequest('The backup is already successful.')

const occurrenceOf = ({ id, serverId, name }: Backup) => ({
  serverId,
  properties: { name },
  subjects: [{ type: 'backup' as const, id }],
})

/** Whether the store holds the archive in the size that was reported, joined now or when the answer was lost. */
async function isStored(panel: Panel, found: ServerBackup, report: BackupReport): Promise<boolean> {
  const { uploadId } = found.backup
  const parts = report.parts ?? []
  if (!uploadId || parts.length === 0) return false
  const uploads = panel.objects.multipart
  if (!uploads) throw unavailable('The object store takes no uploads in parts any more.')
  return throughStore(() => joined(uploads, archiveKey(found), { uploadId, parts, size: report.size }))
}

async function joined(
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
  const { backup } = found
  const now = panel.now()
  const isCompleted = await inTransaction(panel, async (inside) => {
    const completed = await inside.db
      .update(backups)
      .set({
        isSuccessful: true,
        checksum: `${report.checksum_type}:${report.checksum}`,
        bytes: report.size ?? 0,
        completedAt: now,
        uploadId: null,
        updatedAt: now,
      })
      .where(and(eq(backups.id, backup.id), eq(backups.isSuccessful, false), isNull(backups.deletingAt)))
      .returning({ id: backups.id })
    if (completed.length > 0) await record(inside, 'server:backup.complete', occurrenceOf(backup))
    return completed.length > 0
  })
  if (isCompleted) return
  // Another report was faster, which keeps the archive, or somebody removed the backup, which does not.
  if (backup.disk === 's3') await discardLater(panel, found)
  throw alreadySuccessful()
}

const discardLater = (panel: Panel, { backup, server }: ServerBackup) =>
  enqueue(panel, 'discard-backup-upload', {
    serverUuid: server.uuid,
    backupUuid: backup.uuid,
    uploadId: backup.uploadId,
  })

/** What the store holds of a failed backup, a job removes; a backup that has failed before is left as it is. */
async function failBackup(panel: Panel, { backup, server }: ServerBackup): Promise<void> {
  const now = panel.now()
  await inTransaction(panel, async (inside) => {
    const [locked] = await inside.db.select().from(backups).where(eq(backups.id, backup.id)).for('update')
    if (!locked) throw unknownBackup()
    if (locked.isSuccessful) throw alreadySuccessful()
    if (locked.completedAt) return
    await inside.db
      .update(backups)
      .set({ isLocked: false, bytes: 0, checksum: null, completedAt: now, uploadId: null, updatedAt: now })
      .where(eq(backups.id, backup.id))
    await record(inside, 'server:backup.fail', occurrenceOf(backup))
    if (locked.disk === 's3') await discardLater(inside, { backup: locked, server })
  })
}

async function isRecorded(panel: Panel, event: EventName, server: { id: number }): Promise<boolean> {
  const since = new Date(panel.now().getTime() - repeatSeconds * 1000)
  const earlier = await panel.db
    .select({ id: activity.id })
    .from(activity)
    .where(and(eq(activity.serverId, server.id), eq(activity.event, event), gt(activity.timestamp, since)))
    .limit(1)
  return earlier.length > 0
}
