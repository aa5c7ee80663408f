import { randomBytes, randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { MultipartUploads, UploadedPart } from '../../adapters/objects.ts'
import type { Panel } from '../../panel.ts'
import { reasonOf, OperationError } from '../faults.ts'
import { type Check, privateStoreChecks } from './checks.ts'

/** The input of `backup:test`: nothing. */
export const BackupTestInput = () => z.object({})

/** Tests the object store of the panel, and warns when its address is private. */
export async function runBackupTest(panel: Panel): Promise<{ checks: Check[] }> {
  const { checks } = await testObjectStore(panel)
  return { checks: [...checks, ...(await privateStoreChecks(panel))] }
}

const archiveType = 'application/x-gzip'
/** Minimum size of all parts but the last. */
const minPartBytes = 5 * 1024 * 1024
/** Milliseconds for uploading or downloading one part. */
const timeoutMs = 60_000

/**
 * Tests everything that backups need of the object store: uploads an archive in two parts, measures, downloads and
 * deletes it, and aborts another upload. Stops at the first failure and leaves nothing in the store. Throws when the
 * store does not support multipart uploads.
 */
export async function testObjectStore(panel: Pick<Panel, 'objects'>): Promise<{ checks: Check[] }> {
  const uploads = panel.objects.multipart
  if (!uploads)
    throw new OperationError('This panel stores objects on its own disk: set S3_BUCKET and its keys.')
  const trial: Trial = { panel, uploads, key: `${randomUUID()}/${randomUUID()}.tar.gz`, openUploadIds: [] }
  const checks: Check[] = []
  try {
    for (const [name, work] of steps) {
      const found = await runStep(name, () => work(trial))
      checks.push(found)
      if (found.state === 'fail') break
    }
  } finally {
    await cleanUp(trial)
  }
  return { checks }
}

type Trial = {
  panel: Pick<Panel, 'objects'>
  uploads: MultipartUploads
  key: string
  openUploadIds: string[]
}

const archiveParts = [randomBytes(minPartBytes), randomBytes(1000)]
const archive = Buffer.concat(archiveParts)

const steps: [name: string, work: (trial: Trial) => Promise<string>][] = [
  ['bucket', reachBucket],
  ['upload', uploadArchive],
  ['size', measureArchive],
  ['download', downloadArchive],
  ['removal', removeArchive],
  ['abort', abortUpload],
]

async function runStep(name: string, work: () => Promise<string>): Promise<Check> {
  try {
    return { name, state: 'ok', detail: await work() }
  } catch (error) {
    return { name, state: 'fail', detail: reasonOf(error) }
  }
}

async function reachBucket({ panel }: Trial): Promise<string> {
  const startedAt = performance.now()
  await panel.objects.ping()
  return `answered in ${Math.ceil(performance.now() - startedAt)} ms`
}

async function uploadArchive(trial: Trial): Promise<string> {
  const uploadId = await openUpload(trial)
  const parts: UploadedPart[] = []
  for (const [index, part] of archiveParts.entries())
    parts.push(await sendPart(trial, uploadId, index + 1, part))
  const outcome = await trial.uploads.complete(trial.key, uploadId, parts)
  if (outcome !== 'completed')
    throw new Error(`two parts were uploaded, but completing the upload returned: ${outcome}`)
  return 'two parts were uploaded through signed links and joined'
}

async function openUpload({ uploads, key, openUploadIds }: Trial): Promise<string> {
  const uploadId = await uploads.create(key, archiveType)
  openUploadIds.push(uploadId)
  return uploadId
}

/** Uploads a part as a daemon does. */
async function sendPart(
  { uploads, key }: Trial,
  uploadId: string,
  partNumber: number,
  part: Uint8Array<ArrayBuffer>,
): Promise<UploadedPart> {
  const response = await fetch(await uploads.signPart(key, uploadId, partNumber, 600), {
    method: 'PUT',
    body: part,
    headers: { 'content-type': archiveType },
    signal: AbortSignal.timeout(timeoutMs),
  })
  const text = await response.text()
  if (response.status !== 200)
    throw new Error(`part ${partNumber} was answered with ${response.status}${s3ErrorCode(text)}`)
  const tag = response.headers.get('etag')
  if (!tag) throw new Error(`part ${partNumber} was accepted, but the response has no ETag`)
  return { tag, partNumber }
}

async function measureArchive({ uploads, key }: Trial): Promise<string> {
  const found = await uploads.head(key)
  if (!found) throw new Error('the upload was completed, but the archive does not exist')
  if (found.size !== archive.length)
    throw new Error(`the archive has ${found.size} bytes instead of ${archive.length}`)
  return `the archive has ${found.size} bytes`
}

async function downloadArchive({ panel, key }: Trial): Promise<string> {
  const response = await fetch(await panel.objects.signedUrl(key, 600, archiveType), {
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (!response.ok)
    throw new Error(
      `the signed link was answered with ${response.status}${s3ErrorCode(await response.text())}`,
    )
  const bytes = Buffer.from(await response.arrayBuffer())
  if (!bytes.equals(archive)) throw new Error('the downloaded archive differs')
  const type = response.headers.get('content-type')
  if (type !== archiveType)
    throw new Error(`daemons would refuse the archive because of its content type ${type}`)
  return 'the archive was downloaded through a signed link'
}

async function removeArchive({ panel, uploads, key }: Trial): Promise<string> {
  await panel.objects.remove(key)
  if (await uploads.head(key)) throw new Error('the archive was deleted, but still exists')
  return 'the archive was deleted'
}

async function abortUpload(trial: Trial): Promise<string> {
  const uploadId = await openUpload(trial)
  const part = await sendPart(trial, uploadId, 1, Buffer.from('aborted'))
  await trial.uploads.abort(trial.key, uploadId)
  const outcome = await trial.uploads.complete(trial.key, uploadId, [part])
  if (outcome === 'completed') throw new Error('an upload was aborted, but could still be completed')
  return 'an upload was aborted'
}

/** Deletes what the test created. A job deletes leftover uploads a day later. */
async function cleanUp({ panel, uploads, key, openUploadIds }: Trial): Promise<void> {
  for (const uploadId of openUploadIds) await uploads.abort(key, uploadId).catch(() => undefined)
  await panel.objects.remove(key).catch(() => undefined)
}

const s3ErrorCode = (text: string): string => {
  const code = /<Code>([\w.-]+)<\/Code>/.exec(text)?.[1]
  return code === undefined ? '' : ` (${code})`
}
