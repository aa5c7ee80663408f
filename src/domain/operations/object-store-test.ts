import { randomBytes, randomUUID } from 'node:crypto'
import type { MultipartUploads, ObjectStore, UploadedPart } from '../../adapters/objects.ts'

const archiveType = 'application/x-gzip'
/** Minimum size of all parts but the last. */
const minPartBytes = 5 * 1024 * 1024
/** Milliseconds for uploading or downloading one part. */
const timeoutMs = 60_000

/** What a step found: a sentence, the code that stands for it, and what it names. */
type StoreFinding = {
  detail: string
  code: 'bucket_answered' | 'upload_joined' | 'size_found' | 'download_done' | 'removal_done' | 'abort_done'
  values: Record<string, number>
}
/** A step of the test; `detail` says what was done, or why it failed, and then nothing was found. */
export type StoreStep = {
  name: string
  isOk: boolean
  detail: string
  found: Pick<StoreFinding, 'code' | 'values'> | null
}

/** An object store that takes uploads in parts. */
export type TestedStore = { objects: ObjectStore; uploads: MultipartUploads }

/**
 * Tests everything that backups need of the object store: uploads an archive in two parts, measures, downloads and
 * deletes it, and aborts another upload. Stops at the first failure, which `describe` puts into words, and leaves
 * nothing in the store.
 */
export async function testObjectStore(
  store: TestedStore,
  describe: (error: unknown) => string,
): Promise<StoreStep[]> {
  const trial: Trial = {
    ...store,
    key: `${randomUUID()}/${randomUUID()}.tar.gz`,
    openUploadIds: [],
    parts: [randomBytes(minPartBytes), randomBytes(1000)],
  }
  const done: StoreStep[] = []
  try {
    for (const [name, work] of steps) {
      const found = await runStep(name, () => work(trial), describe)
      done.push(found)
      if (!found.isOk) break
    }
  } finally {
    await cleanUp(trial)
  }
  return done
}

type Trial = TestedStore & {
  key: string
  openUploadIds: string[]
  /** The contents of the archive. */
  parts: Buffer<ArrayBuffer>[]
}

const steps: [name: string, work: (trial: Trial) => Promise<StoreFinding>][] = [
  ['bucket', reachBucket],
  ['upload', uploadArchive],
  ['size', measureArchive],
  ['download', downloadArchive],
  ['removal', removeArchive],
  ['abort', abortUpload],
]

async function runStep(
  name: string,
  work: () => Promise<StoreFinding>,
  describe: (error: unknown) => string,
): Promise<StoreStep> {
  try {
    const { detail, ...found } = await work()
    return { name, isOk: true, detail, found }
  } catch (error) {
    return { name, isOk: false, detail: describe(error), found: null }
  }
}

async function reachBucket({ objects }: Trial): Promise<StoreFinding> {
  const startedAt = performance.now()
  await objects.ping()
  const milliseconds = Math.ceil(performance.now() - startedAt)
  return { detail: `answered in ${milliseconds} ms`, code: 'bucket_answered', values: { milliseconds } }
}

async function uploadArchive(trial: Trial): Promise<StoreFinding> {
  const uploadId = await openUpload(trial)
  const parts: UploadedPart[] = []
  for (const [index, part] of trial.parts.entries())
    parts.push(await sendPart(trial, uploadId, index + 1, part))
  const outcome = await trial.uploads.complete(trial.key, uploadId, parts)
  if (outcome !== 'completed')
    throw new Error(`two parts were uploaded, but completing the upload returned: ${outcome}`)
  return {
    detail: 'two parts were uploaded through signed links and joined',
    code: 'upload_joined',
    values: {},
  }
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

async function measureArchive({ uploads, key, parts }: Trial): Promise<StoreFinding> {
  const found = await uploads.head(key)
  if (!found) throw new Error('the upload was completed, but the archive does not exist')
  if (found.size !== sizeOf(parts))
    throw new Error(`the archive has ${found.size} bytes instead of ${sizeOf(parts)}`)
  return { detail: `the archive has ${found.size} bytes`, code: 'size_found', values: { bytes: found.size } }
}

async function downloadArchive({ objects, key, parts }: Trial): Promise<StoreFinding> {
  const response = await fetch(await objects.signedUrl(key, 600, archiveType), {
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (!response.ok)
    throw new Error(
      `the signed link was answered with ${response.status}${s3ErrorCode(await response.text())}`,
    )
  const bytes = Buffer.from(await response.arrayBuffer())
  if (!bytes.equals(Buffer.concat(parts))) throw new Error('the downloaded archive differs')
  const type = response.headers.get('content-type')
  if (type !== archiveType)
    throw new Error(`daemons would refuse the archive because of its content type ${type}`)
  return { detail: 'the archive was downloaded through a signed link', code: 'download_done', values: {} }
}

const sizeOf = (parts: Buffer[]) => parts.reduce((size, part) => size + part.length, 0)

async function removeArchive({ objects, uploads, key }: Trial): Promise<StoreFinding> {
  await objects.remove(key)
  if (await uploads.head(key)) throw new Error('the archive was deleted, but still exists')
  return { detail: 'the archive was deleted', code: 'removal_done', values: {} }
}

async function abortUpload(trial: Trial): Promise<StoreFinding> {
  const uploadId = await openUpload(trial)
  const part = await sendPart(trial, uploadId, 1, Buffer.from('aborted'))
  await trial.uploads.abort(trial.key, uploadId)
  const outcome = await trial.uploads.complete(trial.key, uploadId, [part])
  if (outcome === 'completed') throw new Error('an upload was aborted, but could still be completed')
  return { detail: 'an upload was aborted', code: 'abort_done', values: {} }
}

/** Deletes what the test created. A job deletes leftover uploads a day later. */
async function cleanUp({ objects, uploads, key, openUploadIds }: Trial): Promise<void> {
  for (const uploadId of openUploadIds) await uploads.abort(key, uploadId).catch(() => undefined)
  await objects.remove(key).catch(() => undefined)
}

const s3ErrorCode = (text: string): string => {
  const code = /<Code>([\w.-]+)<\/Code>/.exec(text)?.[1]
  return code === undefined ? '' : ` (${code})`
}
