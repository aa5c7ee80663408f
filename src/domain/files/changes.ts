import * as z from 'zod'
import type { DaemonFiles } from '../../adapters/daemon-files.ts'
import { badRequest, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import type { ServerOnNode } from '../servers/access.ts'
import { explainBlockedPath } from './contents.ts'
import { isInternalDaemonError, toFileApiError } from './daemon-failures.ts'
import { refuseDenied } from './denylist.ts'
import { entryList, entryPath } from './fields.ts'
import { findEntry, getDaemonFiles } from './listing.ts'
import { withFileLock } from './lock.ts'
import {
  relativeName,
  resolveEntry,
  resolveMember,
  resolvePath,
  displayDirectory,
  splitPath,
} from './paths.ts'
import { resolveSelection } from './selection.ts'
import { runSequentially } from './sequential.ts'

/** Spec: postClientServersByServerFilesCopy. */
export const CopyInput = () => z.object({ location: entryPath() })

/** Spec: postClientServersByServerFilesDelete. A `root` of null is the root of the server. */
export const DeleteInput = () =>
  z.object({
    root: z.string().nullable(),
    files: entryList(z.string().min(1, 'required')),
  })

/** Spec: postClientServersByServerFilesCreateFolder. */
export const FolderInput = () => z.object({ root: z.string().nullish(), name: entryPath() })

/** Octal permissions up to 777, as text or as a number of the same digits. */
const FileMode = () =>
  z
    .preprocess(
      (value: string | number) => (typeof value === 'number' ? String(value) : value),
      z
        .string({ error: ({ input }) => (input === undefined || input === null ? 'required' : 'numeric') })
        .min(1, 'required')
        .regex(/^\d+$/, { error: 'numeric', abort: true })
        .regex(/^0?[0-7]{1,3}$/, 'between')
        .transform((digits) => digits.replace(/^0(?=.)/, '')),
    )
    .meta({ alsoAccepts: [{ enum: Array.from({ length: 0o1000 }, (_, mode) => Number(mode.toString(8))) }] })

/** Spec: postClientServersByServerFilesChmod. */
export const ChmodInput = () =>
  z.object({
    root: z.string().nullish(),
    files: entryList(z.object({ file: entryPath(), mode: FileMode() })),
  })

/**
 * Copies a file within its folder; the daemon chooses the name. Records `server:file.copy`. Refuses with 404 when
 * the file does not exist, with 400 when it is not a file, with 403 when the egg protects it. Wings: POST
 * …/files/copy.
 */
export async function copyFile(panel: Panel, target: ServerOnNode, location: string): Promise<void> {
  const { server } = target
  const path = resolveEntry('location', '/', location)
  await refuseDenied(panel, server, [path])
  const files = getDaemonFiles(panel, target)
  await withFileLock(panel, server, () =>
    files.copy(path).catch(async (error: unknown) => {
      throw await explainNonFile(panel, files, path, error)
    }),
  )
  await recordEvent(panel, 'server:file.copy', { serverId: server.id, properties: { file: path } })
}

/**
 * Returns the error to throw after a call that needs a file has failed: 404 when nothing is at the path, 400 when
 * it is not a file, else as `toFileApiError`.
 */
export async function explainNonFile(
  panel: Panel,
  files: DaemonFiles,
  path: string,
  error: unknown,
): Promise<unknown> {
  if (isInternalDaemonError(error)) {
    const entry = await findEntry(panel, files, path)
    if (entry === null) return notFound('file_missing', 'The file does not exist.')
    if (entry.kind !== 'file')
      return badRequest('path_not_a_file', `${path} is not a file.`, { values: { path } })
  }
  return toFileApiError(error)
}

/**
 * Deletes entries of a folder for good, folders with their contents; missing entries are ignored. Records
 * `server:file.delete`. Refuses with 422 the root and entries outside the folder, with 403 what the egg protects,
 * except inside a folder that is deleted. Wings: POST …/files/delete.
 */
export async function deleteFiles(
  panel: Panel,
  target: ServerOnNode,
  input: z.output<ReturnType<typeof DeleteInput>>,
): Promise<void> {
  const { server } = target
  const { root, names } = await resolveSelection(panel, server, input)
  await withFileLock(panel, server, () =>
    getDaemonFiles(panel, target)
      .remove(root, names)
      .catch((error: unknown) => {
        throw toFileApiError(error)
      }),
  )
  const properties = { directory: displayDirectory(root), files: names }
  await recordEvent(panel, 'server:file.delete', { serverId: server.id, properties })
}

/**
 * Creates a folder and its missing parents; an existing folder stays as it is. Records
 * `server:file.create-directory`. Refuses with 400 when a file is in the way, with 403 when the egg protects the
 * path. Wings: POST …/files/create-directory.
 */
export async function createFolder(
  panel: Panel,
  target: ServerOnNode,
  input: z.output<ReturnType<typeof FolderInput>>,
): Promise<void> {
  const { server } = target
  const root = resolvePath('root', input.root ?? '/')
  const path = resolveEntry('name', root, input.name)
  await refuseDenied(panel, server, [path])
  const pathParts = splitPath(path)
  const files = getDaemonFiles(panel, target)
  await withFileLock(panel, server, () =>
    files.createDirectory(pathParts.directory, pathParts.name).catch(async (error: unknown) => {
      const entry = isInternalDaemonError(error)
        ? await findEntry(panel, files, path).catch(() => null)
        : null
      if (entry && entry.kind !== 'folder')
        throw badRequest('path_exists', `${path} already exists and is not a folder.`, { values: { path } })
      throw await explainBlockedPath(panel, files, path, error)
    }),
  )
  const properties = { directory: displayDirectory(pathParts.directory), name: pathParts.name }
  await recordEvent(panel, 'server:file.create-directory', { serverId: server.id, properties })
}

/**
 * Changes the permissions of entries, one after the other; missing entries are ignored. Records no event. Stops
 * at the first failure: earlier entries are changed, and the error names the failed one. Refuses with 403 what
 * the egg protects. Wings: POST …/files/chmod, called once per entry because some daemons mix up several entries
 * of one call.
 */
export async function changeFileModes(
  panel: Panel,
  target: ServerOnNode,
  input: z.output<ReturnType<typeof ChmodInput>>,
): Promise<void> {
  const root = resolvePath('root', input.root ?? '/')
  const changes = input.files.map(({ file, mode }, index) => ({
    path: resolveMember(`files.${index}.file`, root, file),
    mode,
  }))
  const paths = changes.map(({ path }) => path)
  await refuseDenied(panel, target.server, paths)
  const files = getDaemonFiles(panel, target)
  const failure = await withFileLock(panel, target.server, (renewLock) =>
    runSequentially(panel, {
      entries: changes,
      nameOf: ({ path }) => relativeName(root, path),
      renewLock,
      work: async ({ path, mode }) => {
        const pathParts = splitPath(path)
        await files.changeMode(pathParts.directory, pathParts.name, mode).catch((error: unknown) => {
          throw toFileApiError(error)
        })
      },
    }),
  )
  if (failure !== null) throw failure
}
