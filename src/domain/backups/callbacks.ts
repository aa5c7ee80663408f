import { eq } from 'drizzle-orm'
import * as z from 'zod'
import type { MultipartUploads } from '../../adapters/objects.ts'
import { backups } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import { badRequest, unavailable } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { boolean, integer, text } from '../fields.ts'
import { lockServer } from '../servers/lock.ts'
import { archiveKey, discardFromStore, throughStore } from './archives.ts'
import { occurrenceOf } from './backups.ts'
import { alreadySuccessful, failBackup } from './failures.ts'
import { hasRoom, tooManyBackups } from './limits.ts'
import { findKeptBackup, type ServerBackup, unknownBackup } from './node-backups.ts'

const mostPartNumbers = 10_000

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

/**
 * The backup is successful, with its checksum and size, or failed and unlocked; a failure may be reported
 * again. An archive in the object store is joined from its parts and looked at before it counts: one that is
 * not whole there, or for which no upload was opened, fails the backup and is refused with 400. Refuses with
 * 400 a backup that is already successful, and one that failed before and whose place another one has taken,
 * with 404 and 403 one that is not there or not the node's, with 503 when the store fails, which changes
 * nothing. Records `server:backup.complete` or `server:backup.fail`. Spec: States and transitions, backup.
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
  const refusal = await inTransaction(panel, async (inside) => {
    const server = await lockServer(inside, found.server.id)
    const [backup] = await inside.db
      .select()
      .from(backups)
      .where(eq(backups.id, found.backup.id))
      .for('update')
    if (!backup || backup.deletingAt) return unknownBackup()
    if (backup.isSuccessful) return alreadySuccessful()
    // One that has failed holds no place any more, which another one may have taken.
    if (backup.completedAt && !(await hasRoom(inside, server))) return tooManyBackups()
    const now = inside.now()
    await inside.db
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
    await record(inside, 'server:backup.complete', occurrenceOf(backup))
    return null
  })
  if (!refusal) return
  // What another report has completed stays; what nobody wants does not.
  if (found.backup.disk === 's3') await discardFromStore(panel, found)
  throw refusal
}
