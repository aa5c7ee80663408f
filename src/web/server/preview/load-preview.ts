import { fileBytes } from '../../api/files.ts'
import { maxEditableBytes } from '../files/entries.ts'
import { fetchFile, openDownload, readStart } from '../files/fetch-file.ts'
import { listTar } from './tar-entries.ts'
import { type ArchiveListing, listZip } from './zip-entries.ts'

const mebibyte = 1024 * 1024

/**
 * The largest files that are shown. Nodes send files as a whole only, so of a zip, whose list is at its end, all bytes
 * are fetched. A tar is read until its list is long enough, and a compressed text until enough of it is there to be shown.
 */
export const maxPreviewBytes = {
  image: 16 * mebibyte,
  zip: 64 * mebibyte,
  tar: 512 * mebibyte,
  gzip: 512 * mebibyte,
}

/** More of a compressed text is not shown. */
export const maxTextBytes = 2 * mebibyte

const imageTypes: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
}

type Preview =
  | { kind: 'image'; blob: Blob }
  | { kind: 'archive'; listing: ArchiveListing | null }
  | { kind: 'text'; text: string | null; isCut: boolean }

/** Fetches what a preview shows. A `listing` or `text` of null means that the file is not what its name says. */
export async function loadPreview(
  server: string,
  file: string,
  as: keyof typeof maxPreviewBytes,
  size: number | null,
  signal: AbortSignal,
): Promise<Preview> {
  if (as === 'tar') return { kind: 'archive', listing: await listRemoteTar(server, file, signal) }
  if (as === 'gzip') return readRemoteText(server, file, signal)
  const blob =
    size !== null && size <= maxEditableBytes
      ? new Blob([await fileBytes(server, file, signal)])
      : await fetchFile(server, file, { signal, maxBytes: maxPreviewBytes[as] })
  if (as === 'zip') return { kind: 'archive', listing: await listZip(blob) }
  // The type comes from this list, so that a browser shows nothing else than an image.
  const type = imageTypes[file.slice(file.lastIndexOf('.') + 1).toLowerCase()] ?? 'image/png'
  return { kind: 'image', blob: new Blob([blob], { type }) }
}

async function listRemoteTar(
  server: string,
  file: string,
  signal: AbortSignal,
): Promise<ArchiveListing | null> {
  const { body } = await openDownload(server, file, signal)
  if (!body) return null
  if (/\.tar$/i.test(file)) return listTar(body)
  return listTar(body.pipeThrough(new DecompressionStream('gzip'))).catch(nullIfDamaged)
}

/** What is no gzip makes the stream fail with a TypeError. */
function nullIfDamaged(error: unknown): null {
  if (error instanceof TypeError) return null
  throw error
}

async function readRemoteText(server: string, file: string, signal: AbortSignal): Promise<Preview> {
  const { body } = await openDownload(server, file, signal)
  const stream = body?.pipeThrough(new DecompressionStream('gzip'))
  const start = stream ? await readStart(stream, maxTextBytes).catch(nullIfDamaged) : null
  const bytes = start && new Uint8Array(await start.arrayBuffer())
  const isText = bytes !== null && !bytes.includes(0)
  return {
    kind: 'text',
    text: isText ? new TextDecoder().decode(bytes.subarray(0, maxTextBytes)) : null,
    isCut: bytes !== null && bytes.length > maxTextBytes,
  }
}
