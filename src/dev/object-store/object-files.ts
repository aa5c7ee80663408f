import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createKeyedMutex, type KeyedMutex } from '../../keyed-mutex.ts'
import { RequestError } from './request-error.ts'

/** The metadata of an object. Its bytes are the files `segments` of the folder `data`, one after the other. */
export type ObjectRecord = {
  key: string
  contentType: string
  /** In quotes, as in the `ETag` header. */
  etag: string
  size: number
  modified: string
  data: string
  segments: { name: string; size: number }[]
}

/** A body that was received as a whole: a file in `incoming`, and the MD5 of its bytes in hexadecimal. */
export type ReceivedBody = { path: string; size: number; md5: string }

/**
 * The folder of a store: records in `keys`, bytes in `data`, open uploads in `uploads`, and in `incoming` files
 * that are still written. Changes of one object or upload run one after the other.
 */
export type ObjectFiles = { directory: string; mutex: KeyedMutex }

/** Milliseconds after which a file in `incoming` was left by a crash: links for parts live no longer. */
const maxIncomingAgeMs = 60 * 60_000

/** Opens the folder of a store, creates what is missing and removes what a crash has left in `incoming`. */
export async function openObjectFiles(directory: string): Promise<ObjectFiles> {
  for (const name of ['data', 'keys', 'uploads', 'incoming']) {
    await mkdir(join(directory, name), { recursive: true, mode: 0o700 })
  }
  for (const name of await readdir(join(directory, 'incoming'))) {
    const path = join(directory, 'incoming', name)
    const found = await stat(path).catch(() => null)
    if (found && found.mtimeMs < Date.now() - maxIncomingAgeMs) await rm(path, { force: true })
  }
  return { directory, mutex: createKeyedMutex() }
}

/**
 * Streams a body to a file, hands it to `keep`, and removes the file unless `keep` has moved it. Refuses with 400 a
 * body that does not have the announced length (null when none was announced).
 */
export async function receiveBody<Result>(
  files: ObjectFiles,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  announcedSize: number | null,
  keep: (received: ReceivedBody) => Promise<Result>,
): Promise<Result> {
  const path = join(files.directory, 'incoming', randomUUID())
  const md5 = createHash('md5')
  let size = 0
  const measured = async function* () {
    for await (const chunk of body) {
      size += chunk.length
      md5.update(chunk)
      yield chunk
    }
  }
  try {
    await pipeline(measured, createWriteStream(path, { flags: 'wx', flush: true }))
    if (announcedSize !== null && size !== announcedSize)
      throw new RequestError(400, 'The body does not have the length that was announced.')
    return await keep({ path, size, md5: md5.digest('hex') })
  } finally {
    await rm(path, { force: true })
  }
}

/** Writes a file and removes it. Throws where the disk is full or read-only. */
export async function tryWriting({ directory }: ObjectFiles): Promise<void> {
  const path = join(directory, 'incoming', randomUUID())
  try {
    await writeFile(path, '.', { flag: 'wx' })
  } finally {
    await rm(path, { force: true })
  }
}

/** Stores a received body as an object and removes the bytes of the object it replaces. */
export async function storeObject(
  files: ObjectFiles,
  key: string,
  contentType: string,
  { path, size, md5 }: ReceivedBody,
): Promise<void> {
  const data = randomUUID()
  await mkdir(dataPath(files, data), { mode: 0o700 })
  await rename(path, dataPath(files, data, '1'))
  await recordObject(files, {
    key,
    contentType,
    etag: `"${md5}"`,
    size,
    data,
    segments: [{ name: '1', size }],
  })
}

/** Replaces the record of a key in one step, so that readers find the old object or the new one. */
export function recordObject(files: ObjectFiles, object: Omit<ObjectRecord, 'modified'>): Promise<void> {
  return files.mutex.run(object.key, async () => {
    const previous = await findObject(files, object.key)
    const record = { ...object, modified: new Date().toISOString() }
    await writeAtomically(files, recordPath(files, object.key), JSON.stringify(record))
    if (previous && previous.data !== record.data) await removeData(files, previous.data)
  })
}

/** Finds the record of a key; null when there is no such object. */
export const findObject = (files: ObjectFiles, key: string): Promise<ObjectRecord | null> =>
  readJson<ObjectRecord>(recordPath(files, key))

/** Removes an object; a missing one is fine. */
export function removeObject(files: ObjectFiles, key: string): Promise<void> {
  return files.mutex.run(key, async () => {
    const record = await findObject(files, key)
    if (!record) return
    await rm(recordPath(files, key), { force: true })
    await removeData(files, record.data)
  })
}

/** Reads the bytes of an object from `start` to before `end`, opening one segment after the other. */
export async function* readObject(
  files: ObjectFiles,
  { data, segments, size: length }: ObjectRecord,
  start = 0,
  end = length,
): AsyncGenerator<Buffer> {
  let offset = 0
  for (const { name, size } of segments) {
    const [from, to] = [Math.max(start - offset, 0), Math.min(end - offset, size)]
    if (from < to) yield* createReadStream(dataPath(files, data, name), { start: from, end: to - 1 })
    offset += size
  }
}

/** Builds the path of a folder of bytes, or of a file in it. */
export const dataPath = ({ directory }: ObjectFiles, data: string, ...rest: string[]) =>
  join(directory, 'data', data, ...rest)

/** Removes the bytes of an object or an upload. */
export const removeData = (files: ObjectFiles, data: string) =>
  rm(dataPath(files, data), { recursive: true, force: true })

/** Hashes the key, which may be longer than a file name and hold any character. */
const recordPath = ({ directory }: ObjectFiles, key: string) =>
  join(directory, 'keys', `${createHash('sha256').update(key).digest('hex')}.json`)

/** Writes a file in one step: readers find the old content or the new one, after a crash too. */
export async function writeAtomically(files: ObjectFiles, path: string, content: string): Promise<void> {
  const incoming = join(files.directory, 'incoming', randomUUID())
  await writeFile(incoming, content, { mode: 0o600, flush: true })
  await rename(incoming, path)
}

/** Reads a JSON file; null when it is missing. */
export async function readJson<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
