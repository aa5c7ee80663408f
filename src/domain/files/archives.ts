import * as z from 'zod'
import { daemonFailure } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { refuseUnfit } from './changes.ts'
import { isOutOfPatience, refuseFileFailure } from './daemon-failures.ts'
import { refuseDenied } from './denylist.ts'
import { entriesOf, entryPath } from './fields.ts'
import { entryOf, type FileEntry, filesOf, type Target } from './listing.ts'
import { busily } from './lock.ts'
import { nameIn, resolveMember, resolvePath, shownDirectory } from './paths.ts'
import { selectMembers } from './selection.ts'

/** Seconds which a daemon is given to unpack. Spec: Limits, decompress time limit. */
const longestUnpacking = 300
/** Seconds for which making an archive counts as going on, at most. */
const longestPacking = 600

/** Spec: Client API, files: compress. */
export const CompressInput = () =>
  z.object({
    root: z.string().nullish(),
    files: entriesOf(z.string()),
  })

/** Spec: Client API, files: decompress. */
export const DecompressInput = () => z.object({ root: z.string().nullish(), file: entryPath() })

/**
 * An archive of the things stands in the folder. Records `server:file.compress`. Refuses with 403 what the egg
 * protects, with 504 and no event when it is still being made after the longest wait; it appears later then.
 * Wings: POST …/files/compress.
 */
export async function compressFiles(
  panel: Panel,
  target: Target,
  input: z.output<ReturnType<typeof CompressInput>>,
): Promise<FileEntry> {
  const { server } = target
  const { root, names } = await selectMembers(panel, server, input)
  const files = filesOf(panel, target)
  const archive = await busily(panel, server, longestPacking, () =>
    files.compress(root, names, panel.config.longestWait),
  ).catch((error: unknown) => {
    if (!isOutOfPatience(error)) return refuseFileFailure(error)
    throw daemonFailure(504, 'The archive is still being made and will appear in the folder.', error)
  })
  const properties = { directory: shownDirectory(root), files: names }
  await record(panel, 'server:file.compress', { serverId: server.id, properties })
  return entryOf(panel, archive)
}

/**
 * The archive is unpacked into the folder, over what is there: true when it is done, false when the daemon
 * goes on after the longest wait. Records `server:file.decompress` either way. Refuses with 404 when there is
 * no archive, with 400 when it is none, with 403 when the egg protects it. Wings: POST …/files/decompress.
 */
export async function decompressFile(
  panel: Panel,
  target: Target,
  input: z.output<ReturnType<typeof DecompressInput>>,
): Promise<boolean> {
  const { server } = target
  const root = resolvePath('root', input.root ?? '/')
  const path = resolveMember('file', root, input.file)
  await refuseDenied(panel, server, [path])
  const files = filesOf(panel, target)
  const patience = Math.min(longestUnpacking * 1000, panel.config.longestWait)
  const isDone = await busily(panel, server, longestUnpacking, () =>
    files.decompress(root, nameIn(root, path), patience),
  ).then(
    () => true,
    (error: unknown) => (isOutOfPatience(error) ? false : refuseUnfit(panel, files, path, error)),
  )
  const properties = { directory: shownDirectory(root), files: nameIn(root, path) }
  await record(panel, 'server:file.decompress', { serverId: server.id, properties })
  return isDone
}
