import { randomBytes, randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { MultipartUploads, UploadedPart } from '../../adapters/objects.ts'
import type { Panel } from '../../panel.ts'
import { reasonOf, VerbError } from '../faults.ts'
import type { Check } from './checks.ts'

/** What `backup:test` is given: nothing. */
export const StoreTesting = () => z.object({})

const archiveType = 'application/x-gzip'
/** The smallest part that may stand before another one. */
const smallestPart = 5 * 1024 * 1024
/** Milliseconds for sending or fetching one part. */
const patience = 60_000

/**
 * Does with the object store whatever backups need: an archive in two parts is sent, looked at, fetched, compared
 * and removed, and an upload is given up. Stops at the first failure and leaves nothing behind. Refuses a panel
 * without a store that takes uploads in parts.
 */
export async function tryObjectStore(panel: Pick<Panel, 'objects'>): Promise<{ checks: Check[] }> {
  const uploads = panel.objects.multipart
  if (!uploads) throw new VerbError('This panel keeps objects on its own disk: set S3_BUCKET and its keys.')
  const trial: Trial = { panel, uploads, key: `${randomUUID()}/${randomUUID()}.tar.gz`, opened: [] }
  const checks: Check[] = []
  try {
    for (const [name, work] of steps) {
      const found = await outcomeOf(name, () => work(trial))
      checks.push(found)
      if (found.state === 'fail') break
    }
  } finally {
    await clearUp(trial)
  }
  return { checks }
}

type Trial = { panel: Pick<Panel, 'objects'>; uploads: MultipartUploads; key: string; opened: string[] }

const pieces = [randomBytes(smallestPart), randomBytes(1000)]
const archive = Buffer.concat(pieces)

const steps: [name: string, work: (trial: Trial) => Promise<string>][] = [
  ['bucket', reachBucket],
  ['upload', sendArchive],
  ['size', measureArchive],
  ['download', fetchArchive],
  ['removal', removeArchive],
  ['giving up', abortUpload],
]

async function outcomeOf(name: string, work: () => Promise<string>): Promise<Check> {
  try {
    return { name, state: 'ok', detail: await work() }
  } catch (error) {
    return { name, state: 'fail', detail: reasonOf(error) }
  }
}

async function reachBucket({ panel }: Trial): Promise<string> {
  const before = performance.now()
  await panel.objects.ping()
  return `answers within ${Math.ceil(performance.now() - before)} ms`
}

async function sendArchive(trial: Trial): Promise<string> {
  const uploadId = await openUpload(trial)
  const parts: UploadedPart[] = []
  for (const [at, piece] of pieces.entries()) parts.push(await sendPart(trial, uploadId, at + 1, piece))
  const outcome = await trial.uploads.complete(trial.key, uploadId, parts)
  if (outcome !== 'completed')
    throw new Error(`two parts were sent, but joining them was answered with: ${outcome}`)
  return 'two parts were sent through signed links and joined'
}

async function openUpload({ uploads, key, opened }: Trial): Promise<string> {
  const uploadId = await uploads.create(key, archiveType)
  opened.push(uploadId)
  return uploadId
}

/** As the daemon does it. */
async function sendPart(
  { uploads, key }: Trial,
  uploadId: string,
  partNumber: number,
  piece: Uint8Array<ArrayBuffer>,
): Promise<UploadedPart> {
  const answer = await fetch(await uploads.signPart(key, uploadId, partNumber, 600), {
    method: 'PUT',
    body: piece,
    headers: { 'content-type': archiveType },
    signal: AbortSignal.timeout(patience),
  })
  const text = await answer.text()
  if (answer.status !== 200)
    throw new Error(`part ${partNumber} was answered with ${answer.status}${codeIn(text)}`)
  const tag = answer.headers.get('etag')
  if (!tag) throw new Error(`part ${partNumber} was taken, but its answer has no ETag`)
  return { tag, partNumber }
}

async function measureArchive({ uploads, key }: Trial): Promise<string> {
  const found = await uploads.head(key)
  if (!found) throw new Error('the archive was joined, but is not there')
  if (found.size !== archive.length) throw new Error(`${found.size} bytes are there, not ${archive.length}`)
  return `${found.size} bytes are there`
}

async function fetchArchive({ panel, key }: Trial): Promise<string> {
  const answer = await fetch(await panel.objects.signedUrl(key, 600, archiveType), {
    signal: AbortSignal.timeout(patience),
  })
  if (!answer.ok)
    throw new Error(`the signed link was answered with ${answer.status}${codeIn(await answer.text())}`)
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (!bytes.equals(archive)) throw new Error('what came back is not what was sent')
  const type = answer.headers.get('content-type')
  if (type !== archiveType) throw new Error(`daemons would refuse the archive: it came as ${type}`)
  return 'the same bytes came back through a signed link'
}

async function removeArchive({ panel, uploads, key }: Trial): Promise<string> {
  await panel.objects.remove(key)
  if (await uploads.head(key)) throw new Error('the archive was removed, but is still there')
  return 'the archive is gone'
}

async function abortUpload(trial: Trial): Promise<string> {
  const uploadId = await openUpload(trial)
  const part = await sendPart(trial, uploadId, 1, Buffer.from('given up'))
  await trial.uploads.abort(trial.key, uploadId)
  const outcome = await trial.uploads.complete(trial.key, uploadId, [part])
  if (outcome === 'completed') throw new Error('an upload was given up, but could still be completed')
  return 'an upload was given up and is gone'
}

/** What it cannot remove is swept a day later, or was never there. */
async function clearUp({ panel, uploads, key, opened }: Trial): Promise<void> {
  for (const uploadId of opened) await uploads.abort(key, uploadId).catch(() => undefined)
  await panel.objects.remove(key).catch(() => undefined)
}

const codeIn = (text: string): string => {
  const code = /<Code>([\w.-]+)<\/Code>/.exec(text)?.[1]
  return code === undefined ? '' : ` (${code})`
}
