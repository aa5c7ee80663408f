import { downloadUrl } from '../../api/files.ts'

/** Why a file was not fetched, when the panel has no words for it. */
export class FetchFailure extends Error {
  readonly reason: 'unreachable' | 'refused' | 'too_large'
  constructor(reason: FetchFailure['reason']) {
    super(reason)
    this.reason = reason
  }
}

/** Opens a file at the node itself, by a link that is valid once. Nodes send a file as a whole only. */
export async function openDownload(server: string, path: string, signal: AbortSignal): Promise<Response> {
  const url = await downloadUrl(server, path)
  const answer = await fetch(url, { signal, credentials: 'omit' }).catch((error: unknown) => {
    if (signal.aborted) throw error
    throw new FetchFailure('unreachable')
  })
  if (!answer.ok) throw new FetchFailure('refused')
  return answer
}

/** Fetches a file from the node into memory. Rejects with `too_large` once it has more than `maxBytes`. */
export async function fetchFile(
  server: string,
  path: string,
  {
    signal,
    maxBytes,
    onProgress,
  }: { signal: AbortSignal; maxBytes: number; onProgress?: (received: number) => void },
): Promise<Blob> {
  const { body } = await openDownload(server, path, signal)
  const blob = body ? await readStart(body, maxBytes, onProgress) : new Blob()
  if (blob.size > maxBytes) throw new FetchFailure('too_large')
  return blob
}

/** Reads a stream until more than `maxBytes` are there, or to its end. */
export async function readStart(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  maxBytes: number,
  onProgress?: (received: number) => void,
): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let received = 0
  const reader = stream.getReader()
  while (received <= maxBytes) {
    // oxlint-disable-next-line no-await-in-loop -- a stream is read in order
    const { done, value } = await reader.read()
    if (done) return new Blob(chunks)
    chunks.push(value)
    received += value.byteLength
    onProgress?.(received)
  }
  void reader.cancel().catch(() => undefined)
  return new Blob(chunks)
}
