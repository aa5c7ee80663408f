import * as z from 'zod'
import type { DaemonFiles } from '../../adapters/daemon-files.ts'
import { DaemonError } from '../../adapters/daemon-error.ts'
import { badRequest, daemonFailure, displayError, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import type { ServerOnNode } from '../servers/access.ts'
import { isInternalDaemonError, toFileApiError } from './daemon-failures.ts'
import { recordUnlessDenied, refuseDenied } from './denylist.ts'
import { entryPath } from './fields.ts'
import { type FileEntry, findEntry, getDaemonFiles } from './listing.ts'
import { withFileLock } from './lock.ts'
import { resolveEntry, splitPath } from './paths.ts'

/** Bytes of the largest file that can be read or written as text. */
export const maxEditableBytes = 4 * 1024 * 1024

/** The folder to list, the root when left out. Spec: getClientServersByServerFilesList. */
export const DirectoryQuery = () => z.object({ directory: z.string().nullish() })

/** The path of one file. Spec: docs/files.md#reading. */
export const FileQuery = () => z.object({ file: entryPath() })

/**
 * Reads the bytes of a file. Looks up its type first, because daemons break the connection on a folder and never
 * answer for a pipe. Records `server:file.read`. Refuses with 404 when it does not exist, with 400 when it is not
 * a readable file or larger than 4 MiB, with 403 when the egg protects it, with 502 when the daemon sends more
 * without having announced it. Wings: GET …/files/contents.
 */
export async function readContents(
  panel: Panel,
  target: ServerOnNode,
  file: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const path = resolveEntry('file', '/', file)
  const files = getDaemonFiles(panel, target)
  const entry = await findEntry(panel, files, path)
  if (!entry) throw notFound('file_missing', 'The file does not exist.')
  if (entry.kind === 'folder') throw badRequest('folder_not_file', 'This is a folder, not a file.')
  if (entry.kind === 'special')
    throw badRequest('file_not_regular', 'This is not a regular file and cannot be read.')
  if (entry.size > maxEditableBytes) throw tooLarge()
  const content = await files.read(path, maxEditableBytes).catch((error: unknown) => {
    throw toReadApiError(entry, error)
  })
  if (content === null) throw tooLarge()
  await recordUnlessDenied(panel, target.server, 'server:file.read', path)
  return content
}

/**
 * Writes these bytes to a file, which is created or replaced, with missing folders. Records `server:file.write`.
 * Refuses with 400 when the path is a folder or leads through a file, with 403 when the egg protects it. Wings:
 * POST …/files/write.
 */
export async function writeContents(
  panel: Panel,
  target: ServerOnNode,
  file: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const { server } = target
  const path = resolveEntry('file', '/', file)
  await refuseDenied(panel, server, [path])
  const files = getDaemonFiles(panel, target)
  await withFileLock(panel, server, () =>
    files.write(path, content).catch(async (error: unknown) => {
      throw await explainBlockedPath(panel, files, path, error)
    }),
  )
  await recordEvent(panel, 'server:file.write', { serverId: server.id, properties: { file: path } })
}

/**
 * Returns the error to throw after a call that creates something at a path has failed: 400 when the parent is a
 * file, for which daemons before 1.12 answer 500, else as `toFileApiError`.
 */
export async function explainBlockedPath(
  panel: Panel,
  files: DaemonFiles,
  path: string,
  error: unknown,
): Promise<unknown> {
  const { directory } = splitPath(path)
  if (isInternalDaemonError(error) && directory !== '/') {
    const parentEntry = await findEntry(panel, files, directory).catch(() => null)
    if (parentEntry && parentEntry.kind !== 'folder')
      return badRequest('not_a_folder', `${directory} is not a folder.`, { values: { path: directory } })
  }
  return toFileApiError(error)
}

/** Converts the failure of reading a file, to be thrown. Daemons break the connection on what a link may lead to. */
function toReadApiError({ kind }: FileEntry, error: unknown): unknown {
  if (!(error instanceof DaemonError) || error.status === null || error.isTooLarge)
    return toFileApiError(error)
  if (kind === 'link') return badRequest('link_not_followed', 'This link cannot be followed.')
  if (error.status < 300)
    return daemonFailure(
      502,
      'file_transfer_stopped',
      'The node stopped while it was sending the file. Try again.',
    )
  return toFileApiError(error)
}

const tooLarge = () =>
  displayError('file_too_large', 'This file is larger than 4 MiB. Download it instead.', {
    code: 'FileSizeTooLargeException',
  })
