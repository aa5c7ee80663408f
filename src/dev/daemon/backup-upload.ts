import { open, type FileHandle } from 'node:fs/promises'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { pipeline } from 'node:stream/promises'
import { readRange } from './archive-entry.ts'
import type { Daemon } from './daemon.ts'

/** A part as the report of a backup names it; the ETag is the store's and keeps its quotes. */
export type ReportedPart = { etag: string; part_number: number }

const partTimeoutMs = 2 * 60 * 60_000

/**
 * Uploads an archive to the URLs that the panel signs for its parts, one part after the other and without retries.
 * Rejects when the panel refuses or the store answers anything but 200. Wings: GET /api/remote/backups/{uuid}
 */
export async function uploadArchive(
  daemon: Daemon,
  uuid: string,
  path: string,
  size: number,
  signal: AbortSignal,
): Promise<ReportedPart[]> {
  const { urls, partSize } = readUploadPlan(await daemon.panel.get(`/backups/${uuid}?size=${size}`))
  const handle = await open(path)
  try {
    const parts: ReportedPart[] = []
    for (const [at, url] of urls.entries()) {
      const start = at * partSize
      const end = at + 1 < urls.length ? start + partSize : size
      const etag = await sendPart(new URL(url), handle, start, end, signal)
      parts.push({ etag, part_number: at + 1 })
    }
    return parts
  } finally {
    await handle.close()
  }
}

function readUploadPlan(answer: unknown): { urls: string[]; partSize: number } {
  const { parts, part_size: partSize } = answer as Record<string, unknown>
  const isPlan = Array.isArray(parts) && parts.every((url) => typeof url === 'string')
  if (!isPlan || !Number.isSafeInteger(partSize)) throw new Error('the panel gave no URLs for the parts')
  return { urls: parts, partSize: partSize as number }
}

async function sendPart(
  url: URL,
  handle: FileHandle,
  start: number,
  end: number,
  signal: AbortSignal,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const { request } = url.protocol === 'https:' ? https : http
  const headers = { 'Content-Type': 'application/x-gzip', 'Content-Length': end - start }
  const limits = AbortSignal.any([signal, AbortSignal.timeout(partTimeoutMs)])
  const outgoing = request(url, { method: 'PUT', agent: false, headers, signal: limits }, resolve)
  outgoing.on('error', reject)
  // The store may refuse a part before all of it has been sent.
  pipeline(readRange(handle, start, end), outgoing).catch(reject)
  const answer = await promise
  answer.on('error', () => {})
  if (answer.statusCode !== 200) {
    answer.destroy()
    throw new Error(`the store answered a part with status ${answer.statusCode}`)
  }
  answer.resume()
  const { etag } = answer.headers
  if (etag === undefined) throw new Error('the store answered a part without an ETag')
  return etag
}
