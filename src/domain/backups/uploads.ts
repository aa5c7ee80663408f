import { and, eq, isNull, sql } from 'drizzle-orm'
import * as z from 'zod'
import type { MultipartUploads } from '../../adapters/objects.ts'
import { backups } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import { badRequest, conflict, unavailable } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import type { JobPayloads } from '../jobs.ts'
import { settingsOf } from '../settings.ts'
import { archiveKey, throughStore } from './archives.ts'
import { findKeptBackup, type ServerBackup } from './node-backups.ts'

const mebibyte = 1024 * 1024
/** Bytes of an object in S3 and in what is like it. */
const largestArchive = 5 * 1024 * 1024 * mebibyte
/** Half of what S3 takes, so that the report which names every part fits into a request. */
const mostParts = 5000
/** Daemons restore archives of this type alone. */
const archiveType = 'application/x-gzip'

const toSize = (value: unknown) => {
  const size = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : 0
  return Number.isSafeInteger(size) && size > 0 ? size : null
}

/** Bytes of the archive; what is no size is null, since it is refused with 400. Spec: Remote API, backups. */
export const UploadQuery = () => z.object({ size: z.preprocess(toSize, z.int().min(1).nullable()) })

/** Where a daemon sends an archive: one link for each part, all parts of `partSize` bytes but the last one. */
export type BackupUpload = { parts: string[]; partSize: number }

/**
 * An upload of `size` bytes is open in the object store and no other one for this backup; the links live as long
 * as the settings say: the daemon sends one part after the other, so all of them have to be done by then.
 * Refuses with 400 a missing or impossible size, a backup that is not kept in the object store, and a
 * store that takes no parts; with 404 and 403 a backup that is not there or not the node's; with 409 a
 * completed one; with 503 when the store fails. Spec: Remote API, backups. Wings: GET /backups/{uuid}.
 */
export async function openUpload(
  panel: Panel,
  node: Node,
  uuid: string,
  size: number | null,
): Promise<BackupUpload> {
  if (size === null || size > largestArchive)
    throw badRequest('The size of the archive must be a number of bytes from 1 to 5 TiB.')
  const found = await findKeptBackup(panel, node, uuid)
  const { backup } = found
  if (backup.completedAt) throw conflict('The backup is already completed.')
  const uploads = panel.objects.multipart
  if (backup.disk !== 's3' || !uploads)
    throw badRequest('The backup is not kept in a store that takes uploads in parts.')
  const settings = await settingsOf(panel, ['backups.part_size_mib', 'backups.link_minutes'])
  const key = archiveKey(found)
  const uploadId = await throughStore(() => reopen(uploads, key, backup.uploadId))
  await keepUpload(panel, uploads, found, uploadId)
  const partSize = partSizeOf(size, settings['backups.part_size_mib'])
  const upload = {
    uploadId,
    count: Math.ceil(size / partSize),
    seconds: settings['backups.link_minutes'] * 60,
  }
  return { parts: await throughStore(() => signParts(uploads, key, upload)), partSize }
}

/** Bytes of each part but the last, a whole number of MiB: what is configured, or more where the archive needs it. */
export function partSizeOf(size: number, configuredMib: number): number {
  const needed = Math.ceil(size / mostParts / mebibyte) * mebibyte
  return Math.max(configuredMib * mebibyte, needed)
}

/**
 * The object store holds nothing of a backup that failed: neither the upload nor an archive. An archive that
 * was reported as good in the meantime stays.
 */
export async function discardUpload(
  panel: Panel,
  { serverUuid, backupUuid, uploadId }: JobPayloads['discard-backup-upload'],
): Promise<void> {
  const key = archiveKey({ server: { uuid: serverUuid }, backup: { uuid: backupUuid } })
  if (uploadId) await panel.objects.multipart?.abort(key, uploadId)
  const [kept] = await panel.db
    .select({ isSuccessful: backups.isSuccessful })
    .from(backups)
    .where(eq(backups.uuid, backupUuid))
  if (!kept?.isSuccessful) await panel.objects.remove(key)
}

/** Signing waits for nothing, so that others get their turn after every hundred parts. */
async function signParts(
  uploads: MultipartUploads,
  key: string,
  { uploadId, count, seconds }: { uploadId: string; count: number; seconds: number },
): Promise<string[]> {
  const links: string[] = []
  while (links.length < count) {
    if (links.length > 0) await new Promise((resolve) => setTimeout(resolve))
    const numbers = Array.from(
      { length: Math.min(100, count - links.length) },
      (_, at) => links.length + at + 1,
    )
    links.push(
      ...(await Promise.all(numbers.map((number) => uploads.signPart(key, uploadId, number, seconds)))),
    )
  }
  return links
}

async function reopen(uploads: MultipartUploads, key: string, previous: string | null): Promise<string> {
  if (previous) await uploads.abort(key, previous)
  return uploads.create(key, archiveType)
}

/** Writes the upload down. Whoever comes second aborts his own, and hears 503 to ask again. */
async function keepUpload(
  panel: Panel,
  uploads: MultipartUploads,
  found: ServerBackup,
  uploadId: string,
): Promise<void> {
  const { backup } = found
  try {
    const kept = await panel.db
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
    if (kept.length === 0) throw unavailable('The backup has changed. Try again.')
  } catch (error) {
    await uploads.abort(archiveKey(found), uploadId).catch(() => undefined)
    throw error
  }
}
