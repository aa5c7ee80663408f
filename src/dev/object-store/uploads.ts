import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { MultipartUploads, UploadedPart } from '../../adapters/objects.ts'
import {
  dataPath,
  findObject,
  type ObjectFiles,
  type ObjectRecord,
  readJson,
  type ReceivedBody,
  recordObject,
  removeData,
  writeAtomically,
} from './object-files.ts'
import { RequestError } from './request-error.ts'

/** An upload that was neither completed nor aborted. */
export type UploadRecord = { id: string; key: string; contentType: string; initiated: string }

/** The minimum that S3 has for every part but the last. */
const minPartBytes = 5 * 1024 * 1024

/** Opens an upload and gives its id. Its parts lie in the folder of that name, which becomes the object's. */
export async function createUpload(files: ObjectFiles, key: string, contentType: string): Promise<string> {
  const upload: UploadRecord = { id: randomUUID(), key, contentType, initiated: new Date().toISOString() }
  await mkdir(dataPath(files, upload.id), { mode: 0o700 })
  await writeAtomically(files, uploadPath(files, upload.id), JSON.stringify(upload))
  return upload.id
}

/** Lists all open uploads by their keys. */
export async function listUploads({ directory }: ObjectFiles): Promise<UploadRecord[]> {
  const names = await readdir(join(directory, 'uploads'))
  const uploads = await Promise.all(
    names.map((name) => readJson<UploadRecord>(join(directory, 'uploads', name))),
  )
  return uploads
    .filter((upload) => upload !== null)
    .toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
}

/** Stores a received body as a part, in place of one of the same number, and gives its tag. Refuses with 404. */
export function storePart(
  files: ObjectFiles,
  { key, id, partNumber }: { key: string; id: string; partNumber: number },
  { path, md5 }: ReceivedBody,
): Promise<string> {
  return files.mutex.run(id, async () => {
    await requireUpload(files, key, id)
    const name = `${partNumber}.${md5}`
    const present = await readdir(dataPath(files, id))
    await rename(path, dataPath(files, id, name))
    const replaced = present.filter((each) => each !== name && each.startsWith(`${partNumber}.`))
    for (const each of replaced) await rm(dataPath(files, id, each), { force: true })
    return `"${md5}"`
  })
}

/** Makes one object of the named parts without copying them, and removes the other parts. */
export function completeUpload(
  files: ObjectFiles,
  key: string,
  id: string,
  parts: UploadedPart[],
): ReturnType<MultipartUploads['complete']> {
  return files.mutex.run(id, async () => {
    const upload = await findUpload(files, key, id)
    if (!upload) return 'gone'
    const segments = await findSegments(files, id, parts)
    if (!segments) return 'refused'
    const size = segments.reduce((sum, segment) => sum + segment.size, 0)
    const digests = segments.map(({ name }) => name.split('.')[1]).join('')
    const etag = `"${createHash('md5').update(digests, 'hex').digest('hex')}-${segments.length}"`
    await recordObject(files, { key, contentType: upload.contentType, etag, size, data: id, segments })
    await rm(uploadPath(files, id), { force: true })
    const used = new Set(segments.map(({ name }) => name))
    const unused = (await readdir(dataPath(files, id))).filter((name) => !used.has(name))
    for (const name of unused) await rm(dataPath(files, id, name), { force: true })
    return 'completed'
  })
}

/** Removes an upload and its parts; a missing one is fine. */
export function abortUpload(files: ObjectFiles, key: string, id: string): Promise<void> {
  return files.mutex.run(id, async () => {
    if (!(await findUpload(files, key, id))) return
    await rm(uploadPath(files, id), { force: true })
    await removeData(files, id)
  })
}

/** Checks that an upload of this key is open. Refuses with 404 when there is none. */
export async function requireUpload(files: ObjectFiles, key: string, id: string): Promise<void> {
  if (!(await findUpload(files, key, id))) throw new RequestError(404, 'There is no such upload.')
}

/** Finds an open upload of this key; null for one that a crash has left open after it was completed. */
async function findUpload(files: ObjectFiles, key: string, id: string): Promise<UploadRecord | null> {
  const upload = /^[\da-f-]{36}$/.test(id) ? await readJson<UploadRecord>(uploadPath(files, id)) : null
  if (upload?.key !== key) return null
  if ((await findObject(files, key))?.data !== id) return upload
  await rm(uploadPath(files, id), { force: true })
  return null
}

/** Finds the files of the parts in the order of their numbers; null when a part is missing, named twice or too small. */
async function findSegments(
  files: ObjectFiles,
  id: string,
  parts: UploadedPart[],
): Promise<ObjectRecord['segments'] | null> {
  const ordered = parts.toSorted((a, b) => a.partNumber - b.partNumber)
  const segments: ObjectRecord['segments'] = []
  for (const [index, { partNumber, tag }] of ordered.entries()) {
    const name = `${partNumber}.${tag.replaceAll('"', '')}`
    const found = /^\d+\.[\da-f]{32}$/.test(name)
      ? await stat(dataPath(files, id, name)).catch(() => null)
      : null
    const isTooSmall = index < ordered.length - 1 && (found?.size ?? 0) < minPartBytes
    if (!found || isTooSmall || partNumber === ordered[index - 1]?.partNumber) return null
    segments.push({ name, size: found.size })
  }
  return segments.length > 0 ? segments : null
}

const uploadPath = ({ directory }: ObjectFiles, id: string) => join(directory, 'uploads', `${id}.json`)
