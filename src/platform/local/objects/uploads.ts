import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  dataPath,
  findObject,
  readJson,
  recordObject,
  removeData,
  writeWhole,
  type ObjectFiles,
  type ObjectRecord,
  type Received,
} from './object-files.ts'
import { S3Error } from './s3-error.ts'

/** An upload in parts that was neither completed nor aborted. */
export type OpenUpload = { id: string; key: string; contentType: string; initiated: string }

const smallestPart = 5 * 1024 * 1024
const mostParts = 10_000

/** Opens an upload; its parts are kept under its id, which becomes the folder of the object. */
export async function openUpload(files: ObjectFiles, key: string, contentType: string): Promise<OpenUpload> {
  const upload = { id: randomUUID(), key, contentType, initiated: new Date().toISOString() }
  await mkdir(dataPath(files, upload.id), { mode: 0o700 })
  await writeWhole(files, uploadPath(files, upload.id), JSON.stringify(upload))
  return upload
}

/** Every open upload whose key begins with `prefix`, by key and then by age. */
export async function listUploads(files: ObjectFiles, prefix: string): Promise<OpenUpload[]> {
  const names = await readdir(join(files.directory, 'uploads'))
  const read = await Promise.all(
    names.map((name) => readJson<OpenUpload>(join(files.directory, 'uploads', name))),
  )
  return read
    .filter((upload) => upload !== null)
    .filter(({ key }) => key.startsWith(prefix))
    .toSorted((one, other) => compare(one.key, other.key) || compare(one.initiated, other.initiated))
}

/** Takes a part in the place of one of the same number; its tag. Refuses numbers beyond 1 to 10,000 with 400. */
export async function keepPart(
  files: ObjectFiles,
  key: string,
  id: string,
  number: number,
  { place, md5 }: Received,
): Promise<string> {
  if (!Number.isInteger(number) || number < 1 || number > mostParts)
    throw new S3Error(400, 'InvalidArgument', `Parts count from 1 to ${mostParts}.`)
  await files.turns(id, async () => {
    await requireUpload(files, key, id)
    const name = `${number}.${md5}`
    const present = await readdir(dataPath(files, id))
    await rename(place, dataPath(files, id, name))
    const replaced = present.filter((each) => each !== name && each.startsWith(`${number}.`))
    for (const each of replaced) await rm(dataPath(files, id, each), { force: true })
  })
  return `"${md5}"`
}

/** Makes one object of the named parts, without copying them; other parts are forgotten. */
export function completeUpload(
  files: ObjectFiles,
  key: string,
  id: string,
  parts: { number: number; etag: string }[],
): Promise<ObjectRecord> {
  return files.turns(id, async () => {
    const { contentType } = await requireUpload(files, key, id)
    const segments = await segmentsOf(files, id, parts)
    const digests = parts.map(({ etag }) => Buffer.from(bare(etag), 'hex'))
    const etag = `"${createHash('md5').update(Buffer.concat(digests)).digest('hex')}-${parts.length}"`
    const size = segments.reduce((sum, segment) => sum + segment.size, 0)
    const record = await recordObject(files, { key, contentType, etag, size, data: id, segments })
    await rm(uploadPath(files, id), { force: true })
    const named = new Set(segments.map(({ name }) => name))
    const others = (await readdir(dataPath(files, id))).filter((name) => !named.has(name))
    for (const name of others) await rm(dataPath(files, id, name), { force: true })
    return record
  })
}

/** Nothing is left of the upload and its parts. */
export function abortUpload(files: ObjectFiles, key: string, id: string): Promise<void> {
  return files.turns(id, async () => {
    await requireUpload(files, key, id)
    await rm(uploadPath(files, id), { force: true })
    await removeData(files, id)
  })
}

/** Refuses with 404 what is no open upload of this key; one that a crash left open after it was completed is none. */
export async function requireUpload(files: ObjectFiles, key: string, id: string): Promise<OpenUpload> {
  const upload = /^[\da-f-]{36}$/.test(id) ? await readJson<OpenUpload>(uploadPath(files, id)) : null
  if (upload?.key === key) {
    if ((await findObject(files, key))?.data !== id) return upload
    await rm(uploadPath(files, id), { force: true })
  }
  throw new S3Error(404, 'NoSuchUpload', 'There is no such upload, or no longer.')
}

async function segmentsOf(files: ObjectFiles, id: string, parts: { number: number; etag: string }[]) {
  if (parts.length === 0) throw new S3Error(400, 'MalformedXML', 'The request names no parts.')
  if (parts.some(({ number }, at) => at > 0 && number <= (parts[at - 1]?.number ?? 0)))
    throw new S3Error(400, 'InvalidPartOrder', 'The parts are not in the order of their numbers.')
  const segments: ObjectRecord['segments'] = []
  for (const { number, etag } of parts) {
    const name = `${number}.${bare(etag)}`
    const isName = /^\d+\.[\da-f]{32}$/.test(name)
    const found = isName ? await stat(dataPath(files, id, name)).catch(() => null) : null
    if (!found) throw new S3Error(400, 'InvalidPart', `Part ${number} was not sent with this tag.`)
    segments.push({ name, size: found.size })
  }
  if (segments.slice(0, -1).some(({ size }) => size < smallestPart))
    throw new S3Error(400, 'EntityTooSmall', 'A part other than the last is smaller than 5 MiB.')
  return segments
}

const bare = (etag: string) => etag.replaceAll('"', '')
const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)
const uploadPath = ({ directory }: ObjectFiles, id: string) => join(directory, 'uploads', `${id}.json`)
