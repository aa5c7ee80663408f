import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { basename } from 'node:path'
import { FileError } from './file-errors.ts'
import { readParts } from './multipart-parts.ts'
import { spoolStream, type Volume } from './server-files.ts'

/** A file of a form, kept in the spool. */
export type UploadedFile = { name: string; spooled: string }

/**
 * Reads the `files` of a form into the spool and hands them over together; whatever is left of them afterwards is
 * removed. Refuses with 400 a body that is no whole form, a form without files, and a file above the limit
 * (bytes): then nothing was handed over. Wings: POST /upload/file
 */
export async function receiveFiles(
  volume: Volume,
  request: IncomingMessage,
  boundary: string,
  limit: number,
  take: (files: UploadedFile[]) => Promise<void>,
): Promise<void> {
  const files: UploadedFile[] = []
  try {
    const oversized = await spoolFiles(volume, request, boundary, limit, files)
    if (oversized !== undefined) throw new FileError(400, `The file ${oversized} is larger than the limit.`)
    if (files.length === 0) throw new FileError(400, 'The form holds no files.')
    await take(files)
  } finally {
    await Promise.all(files.map(({ spooled }) => rm(spooled, { force: true })))
  }
}

/** The name of a file that was too large. All is read even so: who still sends does not listen. */
async function spoolFiles(
  volume: Volume,
  request: IncomingMessage,
  boundary: string,
  limit: number,
  files: UploadedFile[],
): Promise<string | undefined> {
  let oversized: string | undefined
  try {
    for await (const { name, fileName, content } of readParts(request, boundary)) {
      if (name !== 'files' || !fileName) continue
      const measure = { exceeded: false }
      const spooled = await spoolStream(volume, capped(content, limit, measure))
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

/** The content up to the limit; the rest is read and dropped. */
async function* capped(
  content: AsyncIterable<Buffer>,
  limit: number,
  measure: { exceeded: boolean },
): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of content) {
    size += chunk.length
    if (size <= limit) yield chunk
    else measure.exceeded = true
  }
}
