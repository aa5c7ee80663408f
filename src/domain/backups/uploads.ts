import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import * as z from 'zod'
import type { MultipartUploads, OpenUpload } from '../../adapters/objects.ts'
import { backups } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import { badRequest, conflict, unavailable } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { type JobPayloads, replaceJob } from '../jobs/enqueue.ts'
import { getSettings } from '../settings/settings.ts'
import { archiveContentType, archiveKey, callObjectStore, isArchiveKey } from './archives.ts'
import { findActiveNodeBackup, type ServerBackup } from './node-backups.ts'

const mebibyte = 1024 * 1024
/** Bytes of the largest object in S3 and compatible stores. */
const maxArchiveBytes = 5 * 1024 * 1024 * mebibyte
/** Half of the parts that S3 accepts, so that the report with all parts fits into a request. */
const maxParts = 5000

const parseSize = (value: unknown) => {
  const size = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : 0
  return Number.isSafeInteger(size) && size > 0 ? size : null
}

/**
 * The bytes of the archive; an invalid size is null, since it is refused with 400. Spec:
 * getRemoteBackupsByBackup.
 */
export const UploadQuery = () => z.object({ size: z.preprocess(parseSize, z.int().min(1).nullable()) })

/** The URLs for the parts of an archive; all parts but the last have `partSize` bytes. */
export type BackupUpload = { parts: string[]; partSize: number }

/**
 * Opens a multipart upload of `size` bytes in the object store, in place of an earlier one for this backup. All
 * URLs are valid for the configured time, since the daemon sends one part after the other.
 *
 * Refuses with 400 an invalid size, a backup that is not in the object store, and a store without multipart
 * uploads; with 404 an unknown backup, with 403 one of another node, with 409 a completed one, with 503 when the
 * store fails. Spec: getRemoteBackupsByBackup. Wings: GET /backups/{uuid}.
 */
export async function startUpload(
  panel: Panel,
  node: Node,
  uuid: string,
  size: number | null,
): Promise<BackupUpload> {
  if (size === null || size > maxArchiveBytes)
    throw badRequest('callback_refused', 'The size of the archive must be a number of bytes from 1 to 5 TiB.')
  const found = await findActiveNodeBackup(panel, node, uuid)
  const { backup } = found
  if (backup.completedAt) throw conflict('callback_refused', 'The backup is already completed.')
  const uploads = panel.objects.multipart
  if (backup.disk !== 's3' || !uploads)
    throw badRequest(
      'callback_refused',
      'The backup is not stored in an object store with multipart uploads.',
    )
  const settings = await getSettings(panel, ['backups.part_size_mib', 'backups.link_minutes'])
  const key = archiveKey(found)
  const uploadId = await callObjectStore(() => replaceUpload(uploads, key, backup.uploadId))
  await storeUploadId(panel, uploads, found, uploadId)
  const partSize = choosePartSize(size, settings['backups.part_size_mib'])
  const upload = {
    uploadId,
    count: Math.ceil(size / partSize),
    seconds: settings['backups.link_minutes'] * 60,
  }
  return { parts: await callObjectStore(() => signParts(uploads, key, upload)), partSize }
}

/** Bytes of each part but the last, in whole MiB: the configured size, or more when the archive needs it (RM-9). */
export function choosePartSize(size: number, configuredMib: number): number {
  const needed = Math.ceil(size / maxParts / mebibyte) * mebibyte
  return Math.max(configuredMib * mebibyte, needed)
}

/**
 * Job: deletes what the object store has of a failed backup, upload or archive. The archive of a backup that
 * became successful stays.
 */
export async function discardUpload(
  panel: Panel,
  { serverUuid, backupUuid, uploadId }: JobPayloads['discard-backup-upload'],
): Promise<void> {
  const key = archiveKey({ server: { uuid: serverUuid }, backup: { uuid: backupUuid } })
  if (uploadId) await panel.objects.multipart?.abort(key, uploadId)
  const [stored] = await panel.db
    .select({ isSuccessful: backups.isSuccessful })
    .from(backups)
    .where(eq(backups.uuid, backupUuid))
  if (!stored?.isSuccessful) await panel.objects.remove(key)
}

/** Signs the URLs, and lets other requests run after every 100, since signing does not wait for I/O. */
async function signParts(
  uploads: MultipartUploads,
  key: string,
  { uploadId, count, seconds }: { uploadId: string; count: number; seconds: number },
): Promise<string[]> {
  const urls: string[] = []
  while (urls.length < count) {
    if (urls.length > 0) await new Promise((resolve) => setTimeout(resolve))
    const partNumbers = Array.from(
      { length: Math.min(100, count - urls.length) },
      (_, index) => urls.length + index + 1,
    )
    urls.push(
      ...(await Promise.all(partNumbers.map((number) => uploads.signPart(key, uploadId, number, seconds)))),
    )
  }
  return urls
}

async function replaceUpload(
  uploads: MultipartUploads,
  key: string,
  previous: string | null,
): Promise<string> {
  if (previous) await uploads.abort(key, previous)
  return uploads.create(key, archiveContentType)
}

/** Stores the upload. Refuses with 503 and aborts the upload when another request has stored one first. */
async function storeUploadId(
  panel: Panel,
  uploads: MultipartUploads,
  found: ServerBackup,
  uploadId: string,
): Promise<void> {
  const { backup } = found
  try {
    const updated = await panel.db
      .update(backups)
      .set({ uploadId, updatedAt: panel.now() })
      .where(
        and(
          eq(backups.id, backup.id),
          sql`${backups.uploadId} is not distinct from ${backup.uploadId}`,
          isNull(backups.completedAt),
          isNull(backups.deletingAt),
        ),
      )
      .returning({ id: backups.id })
    if (updated.length === 0) throw unavailable('backup_changed', 'The backup has changed. Try again.')
  } catch (error) {
    await uploads.abort(archiveKey(found), uploadId).catch(() => undefined)
    throw error
  }
}

const daySeconds = 86_400
/** Uploads that one job aborts; the next one handles the rest a minute later. */
const maxAborts = 100

/**
 * Job: aborts uploads of archives that have been open for more than a day and belong to no running backup, then
 * enqueues itself for the next day. Other objects in the bucket stay.
 */
export async function sweepUploads(panel: Panel): Promise<void> {
  const uploads = panel.objects.multipart
  const isDone = uploads ? await abortStaleUploads(panel, uploads) : true
  const runAt = new Date(panel.now().getTime() + (isDone ? daySeconds : 60) * 1000)
  await replaceJob(panel, 'sweep-uploads', {}, { key: 'sweep-uploads', runAt })
}

/** Aborts stale uploads and returns whether all are handled. */
async function abortStaleUploads(panel: Panel, uploads: MultipartUploads): Promise<boolean> {
  const before = new Date(panel.now().getTime() - daySeconds * 1000)
  let remaining = maxAborts
  let page = await uploads.list(null)
  for (;;) {
    for (const { key, uploadId } of await findStaleUploads(panel, page.uploads, before)) {
      if (remaining === 0) return false
      await uploads.abort(key, uploadId)
      remaining -= 1
    }
    if (!page.next) return true
    page = await uploads.list(page.next)
  }
}

async function findStaleUploads(
  panel: Panel,
  openUploads: OpenUpload[],
  before: Date,
): Promise<OpenUpload[]> {
  const candidates = openUploads.filter(({ key, startedAt }) => isArchiveKey(key) && startedAt < before)
  if (candidates.length === 0) return []
  const ids = candidates.map(({ uploadId }) => uploadId)
  const running = await panel.db
    .select({ uploadId: backups.uploadId })
    .from(backups)
    .where(and(inArray(backups.uploadId, ids), isNull(backups.completedAt), isNull(backups.deletingAt)))
  const referencedIds = new Set(running.map(({ uploadId }) => uploadId))
  return candidates.filter(({ uploadId }) => !referencedIds.has(uploadId))
}
