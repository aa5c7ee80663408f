import * as z from 'zod'
import { hasTimedOut } from '../../adapters/daemon-error.ts'
import { daemonFailure } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import type { ServerOnNode } from '../servers/access.ts'
import { explainNonFile } from './changes.ts'
import { toFileApiError } from './daemon-failures.ts'
import { refuseDenied } from './denylist.ts'
import { entryList, entryPath } from './fields.ts'
import { type FileEntry, getDaemonFiles, toFileEntry } from './listing.ts'
import { withBusyMark } from './lock.ts'
import { relativeName, resolveMember, resolvePath, displayDirectory } from './paths.ts'
import { resolveSelection } from './selection.ts'

/** Seconds that a daemon is given to unpack an archive. Spec: docs/files.md#archives. */
const maxDecompressSeconds = 300
/** Seconds after which the mark of a running compression expires. */
const maxCompressSeconds = 600

/** Spec: postClientServersByServerFilesCompress. */
export const CompressInput = () =>
  z.object({
    root: z.string().nullish(),
    files: entryList(z.string().min(1, 'required')),
  })

/** Spec: postClientServersByServerFilesDecompress. */
export const DecompressInput = () => z.object({ root: z.string().nullish(), file: entryPath() })

/**
 * Creates an archive of entries in their folder and returns it. Records `server:file.compress`. Refuses with 403
 * what the egg protects, and with 504, without an event, when the daemon is still working at the timeout: the
 * archive appears later. Wings: POST …/files/compress.
 */
export async function compressFiles(
  panel: Panel,
  target: ServerOnNode,
  input: z.output<ReturnType<typeof CompressInput>>,
): Promise<FileEntry> {
  const { server } = target
  const { root, names } = await resolveSelection(panel, server, input)
  const files = getDaemonFiles(panel, target)
  const archive = await withBusyMark(panel, server, maxCompressSeconds, () =>
    files.compress(root, names, panel.config.maxWaitMs),
  ).catch((error: unknown) => {
    if (!hasTimedOut(error)) throw toFileApiError(error)
    throw daemonFailure(
      504,
      'archive_still_created',
      'The archive is still being created and will appear in the folder.',
      { cause: error },
    )
  })
  const properties = { directory: displayDirectory(root), files: names }
  await recordEvent(panel, 'server:file.compress', { serverId: server.id, properties })
  return toFileEntry(panel, archive)
}

/**
 * Unpacks an archive into its folder and overwrites what is there. Returns whether it is done: false when the
 * daemon is still working at the timeout. Records `server:file.decompress` either way. Refuses with 404 when the
 * archive does not exist, with 400 when it is not an archive, with 403 when the egg protects it. Wings: POST
 * …/files/decompress.
 */
export async function decompressFile(
  panel: Panel,
  target: ServerOnNode,
  input: z.output<ReturnType<typeof DecompressInput>>,
): Promise<boolean> {
  const { server } = target
  const root = resolvePath('root', input.root ?? '/')
  const path = resolveMember('file', root, input.file)
  await refuseDenied(panel, server, [path])
  const files = getDaemonFiles(panel, target)
  const timeoutMs = Math.min(maxDecompressSeconds * 1000, panel.config.maxWaitMs)
  let isDone = true
  try {
    await withBusyMark(panel, server, maxDecompressSeconds, () =>
      files.decompress(root, relativeName(root, path), timeoutMs),
    )
  } catch (error) {
    if (!hasTimedOut(error)) throw await explainNonFile(panel, files, path, error)
    isDone = false
  }
  const properties = { directory: displayDirectory(root), files: relativeName(root, path) }
  await recordEvent(panel, 'server:file.decompress', { serverId: server.id, properties })
  return isDone
}
