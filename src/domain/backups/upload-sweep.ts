import { and, inArray, isNull } from 'drizzle-orm'
import type { MultipartUploads, OpenUpload } from '../../adapters/objects.ts'
import { backups } from '../../db/schema.ts'
import type { Panel } from '../../panel.ts'
import { replaceJob } from '../jobs.ts'
import { isArchiveKey } from './archives.ts'

const daySeconds = 86_400
/** Uploads that one job aborts; the next one comes in a minute for the rest. */
const batch = 100

/**
 * The job: no upload of an archive has been open for more than a day that no running backup names; then the job
 * itself comes back a day later. Other things that somebody sends to the same bucket are left alone.
 */
export async function sweepUploads(panel: Panel): Promise<void> {
  const uploads = panel.objects.multipart
  const isDone = uploads ? await abortStrays(panel, uploads) : true
  const runAt = new Date(panel.now().getTime() + (isDone ? daySeconds : 60) * 1000)
  await replaceJob(panel, 'sweep-uploads', {}, { key: 'sweep-uploads', runAt })
}

/** Whether there are no more. */
async function abortStrays(panel: Panel, uploads: MultipartUploads): Promise<boolean> {
  const before = new Date(panel.now().getTime() - daySeconds * 1000)
  let left = batch
  let page = await uploads.list(null)
  for (;;) {
    for (const { key, uploadId } of await straysAmong(panel, page.uploads, before)) {
      if (left === 0) return false
      await uploads.abort(key, uploadId)
      left -= 1
    }
    if (!page.next) return true
    page = await uploads.list(page.next)
  }
}

async function straysAmong(panel: Panel, open: OpenUpload[], before: Date): Promise<OpenUpload[]> {
  const old = open.filter(({ key, startedAt }) => isArchiveKey(key) && startedAt < before)
  if (old.length === 0) return []
  const ids = old.map(({ uploadId }) => uploadId)
  const running = await panel.db
    .select({ uploadId: backups.uploadId })
    .from(backups)
    .where(and(inArray(backups.uploadId, ids), isNull(backups.completedAt), isNull(backups.deletingAt)))
  const named = new Set(running.map(({ uploadId }) => uploadId))
  return old.filter(({ uploadId }) => !named.has(uploadId))
}
