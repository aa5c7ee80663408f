import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { basename } from 'node:path'
import { FileError } from './file-errors.ts'
import { readParts } from './multipart-parts.ts'
import { spoolStream, type Volume } from './server-files.ts'

/** A file of a form, which is in the spool. */
export type UploadedFile = { name: string; spooled: string }

/**
 * Receives the `files` of a form in the spool and passes all of them to `take`; those it does not move are removed.
 * Refuses with 400 an incomplete form, a form without files, and a file above `maxBytes`; then `take` is not called.
 * Wings: POST /upload/file
 */
export async function receiveFiles(
  volume: Volume,
  request: IncomingMessage,
  boundary: string,
  maxBytes: number,
  take: (files: UploadedFile[]) => Promise<void>,
): Promise<void> {
  const files: UploadedFile[] = []
  try {
    const oversized = await spoolFiles(volume, request, boundary, maxBytes, files)
    if (oversized !== undefined)
      throw new FileError(400, `The file ${oversized} is larger than the limit of this node.`)
    if (files.length === 0) throw new FileError(400, 'The form contains no files.')
    await take(files)
  } finally {
    await Promise.all(files.map(({ spooled }) => rm(spooled, { force: true })))
  }
}

/** Spools the files and gives the name of one that is too large. The body is read to its end: clients that still send do not read. */
async function spoolFiles(
  volume: Volume,
  request: IncomingMessage,
  boundary: string,
  maxBytes: number,
  files: UploadedFile[],
): Promise<string | undefined> {
  let oversized: string | undefined
  try {
    for await (const { name, fileName, content } of readParts(request, boundary)) {
      if (name !== 'files' || !fileName) continue
      const measure = { exceeded: false }
      const spooled = await spoolStream(volume, truncate(content, maxBytes, measure))
      files.push({ name: basename(fileName), spooled })
      if (measure.exceeded) oversized ??= fileName
    }
  } catch (error) {
    throw new FileError(
      400,
      `The form cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  return oversized
}

/** Yields the content up to `maxBytes`; the rest is read and dropped. */
async function* truncate(
  content: AsyncIterable<Buffer>,
  maxBytes: number,
  measure: { exceeded: boolean },
): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of content) {
    size += chunk.length
    if (size <= maxBytes) yield chunk
    else measure.exceeded = true
  }
}
