import * as z from 'zod'
import { DaemonError } from '../../adapters/daemon.ts'
import type { DaemonFiles } from '../../adapters/daemon-files.ts'
import { badRequest, daemonFailure, displayError, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { isUnexplained, refuseFileFailure } from './daemon-failures.ts'
import { recordUnlessDenied, refuseDenied } from './denylist.ts'
import { entryPath } from './fields.ts'
import { filesOf, findEntry, type Target } from './listing.ts'
import { exclusively } from './lock.ts'
import { resolveEntry, splitPath } from './paths.ts'

/** Bytes of the largest file that is shown or written as text. */
export const editableBytes = 4 * 1024 * 1024

/** A folder to look into; the root when left out. Spec: Client API, files: list. */
export const DirectoryQuery = () => z.object({ directory: z.string().nullish() })

/** One file, by its path. Spec: Client API, files: contents, download, write. */
export const FileQuery = () => z.object({ file: entryPath() })

/**
 * The bytes of a file. What it is, is looked up first: reading a folder breaks the connection, and reading a
 * pipe waits for ever. Records `server:file.read`. Refuses with 404 what is missing, with 400 what is no
 * readable file or larger than 4 MiB, with 403 what the egg protects. Wings: GET …/files/contents.
 */
export async function readContents(
  panel: Panel,
  target: Target,
  file: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const path = resolveEntry('file', '/', file)
  const files = filesOf(panel, target)
  const entry = await findEntry(panel, files, path)
  if (!entry) throw notFound('There is no such file.')
  if (entry.kind === 'folder') throw badRequest('This is a folder, not a file.')
  if (entry.kind === 'special') throw badRequest('This is no file that can be read.')
  if (entry.size > editableBytes) throw tooLarge()
  const isLink = entry.kind === 'link'
  const content = await readAll(files, path).catch((error: unknown) => {
    if (isLink && error instanceof DaemonError && error.status !== null) throw unreadableLink()
    return refuseFileFailure(error)
  })
  if (content === null) throw isLink ? unreadableLink() : brokenOff()
  await recordUnlessDenied(panel, target.server, 'server:file.read', path)
  return content
}

/**
 * The file holds exactly these bytes, made or replaced, with the folders above it. Records
 * `server:file.write`. Refuses with 400 what is a folder or lies in a file, with 403 what the egg protects.
 * Wings: POST …/files/write.
 */
export async function writeContents(
  panel: Panel,
  target: Target,
  file: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const { server } = target
  const path = resolveEntry('file', '/', file)
  await refuseDenied(panel, server, [path])
  const files = filesOf(panel, target)
  await exclusively(panel, server, () =>
    files.write(path, content).catch((error: unknown) => refuseObstacle(panel, files, path, error)),
  )
  await record(panel, 'server:file.write', { serverId: server.id, properties: { file: path } })
}

/**
 * For the failure of what makes something at a path: 400 when a file stands where a folder has to be, which
 * daemons before 1.12 call a fault of their own.
 */
export async function refuseObstacle(
  panel: Panel,
  files: DaemonFiles,
  path: string,
  error: unknown,
): Promise<never> {
  const { directory } = splitPath(path)
  if (isUnexplained(error) && directory !== '/') {
    const above = await findEntry(panel, files, directory).catch(() => null)
    if (above && above.kind !== 'folder') throw badRequest(`${directory} is no folder.`)
  }
  return refuseFileFailure(error)
}

/** The bytes of an answer, read no further than the limit; null when it broke off. */
async function readAll(files: DaemonFiles, path: string): Promise<Uint8Array<ArrayBuffer> | null> {
  const answer = await files.read(path)
  if (Number(answer.headers.get('content-length')) > editableBytes) {
    await answer.body?.cancel()
    throw tooLarge()
  }
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  const reader = answer.body?.getReader()
  for (;;) {
    const part = await reader?.read().catch(() => null)
    if (part === null) return null
    if (!part?.value) break
    size += part.value.byteLength
    chunks.push(part.value)
    if (size > editableBytes) {
      await reader?.cancel()
      throw tooLarge()
    }
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

const tooLarge = () =>
  displayError('This file is larger than 4 MiB. Download it instead.', 'FileSizeTooLargeException')
const unreadableLink = () => badRequest('This is a link that cannot be followed.')
const brokenOff = () => daemonFailure(502, 'The node broke off while it sent the file.')
