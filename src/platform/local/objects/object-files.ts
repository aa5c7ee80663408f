import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { S3Error } from './s3-error.ts'
import { createTurns, type Turns } from './turns.ts'

/** What is known of an object; its bytes are the files `segments` of the folder `data`, one after the other. */
export type ObjectRecord = {
  key: string
  contentType: string
  /** With its quotes. */
  etag: string
  size: number
  modified: string
  data: string
  segments: { name: string; size: number }[]
}

/** A body that has arrived as a whole, in a place of its own. */
export type Received = { place: string; size: number; md5: string }

/** What is known of a body before it arrives. */
export type Expected = { length: number | null; sha256: string | null }

/** The folder of a store: `data`, `keys`, `uploads`, and `incoming` for what is not whole. */
export type ObjectFiles = { directory: string; turns: Turns }

/** Milliseconds after which what has not arrived never will. */
const patience = 60 * 60_000

/** Opens a store's folder and makes it when it is missing; what a crash left half-arrived is removed. */
export async function openObjectFiles(directory: string): Promise<ObjectFiles> {
  for (const name of ['data', 'keys', 'uploads', 'incoming']) {
    await mkdir(join(directory, name), { recursive: true, mode: 0o700 })
  }
  for (const name of await readdir(join(directory, 'incoming'))) {
    const place = join(directory, 'incoming', name)
    const found = await stat(place).catch(() => null)
    if (found && found.mtimeMs < Date.now() - patience) await rm(place, { force: true })
  }
  return { directory, turns: createTurns() }
}

/** Writes a body to the disk as it comes; nothing is left of one that is not what was expected, which is refused with 400. */
export async function receive(
  files: ObjectFiles,
  body: AsyncIterable<Uint8Array>,
  expected: Expected,
): Promise<Received> {
  const place = join(files.directory, 'incoming', randomUUID())
  const [md5, sha256] = [createHash('md5'), createHash('sha256')]
  let size = 0
  const measure = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      size += chunk.length
      md5.update(chunk)
      if (expected.sha256) sha256.update(chunk)
      yield chunk
    }
  }
  try {
    await pipeline(body, measure, createWriteStream(place, { flags: 'wx', flush: true }))
    if (expected.length !== null && size !== expected.length)
      throw new S3Error(400, 'IncompleteBody', 'The body does not have the length that was announced.')
    if (expected.sha256 && sha256.digest('hex') !== expected.sha256)
      throw new S3Error(400, 'XAmzContentSHA256Mismatch', 'The body is not the one that was signed.')
    return { place, size, md5: md5.digest('hex') }
  } catch (error) {
    await rm(place, { force: true })
    throw error
  }
}

/** The object of this key is what was received, and nothing of the one before is left. */
export async function keepObject(
  files: ObjectFiles,
  key: string,
  contentType: string,
  { place, size, md5 }: Received,
): Promise<ObjectRecord> {
  const data = randomUUID()
  await mkdir(dataPath(files, data), { mode: 0o700 })
  await rename(place, dataPath(files, data, '1'))
  const record = { key, contentType, etag: `"${md5}"`, size, data, segments: [{ name: '1', size }] }
  return recordObject(files, record)
}

/** Makes the record the one of its key: at once, so that whoever reads has the old object or the new. */
export function recordObject(
  files: ObjectFiles,
  object: Omit<ObjectRecord, 'modified'>,
): Promise<ObjectRecord> {
  return files.turns(object.key, async () => {
    const before = await findObject(files, object.key)
    const record = { ...object, modified: new Date().toISOString() }
    await writeWhole(files, recordPath(files, object.key), JSON.stringify(record))
    if (before && before.data !== record.data) await removeData(files, before.data)
    return record
  })
}

/** What is known of the object of this key, or null when there is none. */
export async function findObject(files: ObjectFiles, key: string): Promise<ObjectRecord | null> {
  return readJson<ObjectRecord>(recordPath(files, key))
}

/** There is no object of this key afterwards. */
export function removeObject(files: ObjectFiles, key: string): Promise<void> {
  return files.turns(key, async () => {
    const record = await findObject(files, key)
    if (!record) return
    await rm(recordPath(files, key), { force: true })
    await removeData(files, record.data)
  })
}

/** The bytes of an object from `start` to before `end`; each file is opened when its turn has come. */
export async function* readObject(
  files: ObjectFiles,
  { data, segments }: ObjectRecord,
  start: number,
  end: number,
): AsyncGenerator<Buffer> {
  let offset = 0
  for (const { name, size } of segments) {
    const [from, to] = [Math.max(start - offset, 0), Math.min(end - offset, size)]
    if (from < to) yield* createReadStream(dataPath(files, data, name), { start: from, end: to - 1 })
    offset += size
  }
}

/** Where the bytes of an object or an upload lie. */
export const dataPath = ({ directory }: ObjectFiles, data: string, ...rest: string[]) =>
  join(directory, 'data', data, ...rest)

/** Nothing is left of the bytes of an object or an upload. */
export const removeData = (files: ObjectFiles, data: string) =>
  rm(dataPath(files, data), { recursive: true, force: true })

/** Keys are hashed: they may be longer than names of files, and hold what those may not. */
const recordPath = ({ directory }: ObjectFiles, key: string) =>
  join(directory, 'keys', `${createHash('sha256').update(key).digest('hex')}.json`)

/** A file with this content is there afterwards; nobody ever reads half of it. */
export async function writeWhole(files: ObjectFiles, path: string, content: string): Promise<void> {
  const aside = join(files.directory, 'incoming', randomUUID())
  await writeFile(aside, content, { mode: 0o600, flush: true })
  await rename(aside, path)
}

/** What a file says, or null when it is missing. */
export async function readJson<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
