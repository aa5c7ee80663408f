import * as z from 'zod'
import type { DaemonFiles } from '../../adapters/daemon-files.ts'
import { badRequest, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { refuseObstacle } from './contents.ts'
import { isUnexplained, refuseFileFailure } from './daemon-failures.ts'
import { refuseDenied } from './denylist.ts'
import { entriesOf, entryPath } from './fields.ts'
import { filesOf, findEntry, type Target } from './listing.ts'
import { exclusively } from './lock.ts'
import { oneByOne } from './one-by-one.ts'
import { nameIn, resolveEntry, resolveMember, resolvePath, shownDirectory, splitPath } from './paths.ts'
import { selectMembers } from './selection.ts'

/** Spec: Client API, files: copy. */
export const CopyInput = () => z.object({ location: entryPath() })

/** Spec: Client API, files: delete. `root` may be null: the root of the server. */
export const DeleteInput = () =>
  z.object({
    root: z.string().nullable(),
    files: entriesOf(z.string()),
  })

/** Spec: Client API, files: create-folder. */
export const FolderInput = () => z.object({ root: z.string().nullish(), name: entryPath() })

/** Octal digits, as text or as a number that looks like them, up to 777. */
const Mode = () =>
  z.preprocess(
    (value) => (typeof value === 'number' ? String(value) : value),
    z
      .string({ error: ({ input }) => (input === undefined || input === null ? 'required' : 'numeric') })
      .min(1, 'required')
      .regex(/^\d+$/, { error: 'numeric', abort: true })
      .regex(/^0?[0-7]{1,3}$/, 'between')
      .transform((digits) => digits.replace(/^0(?=.)/, '')),
  )

/** Spec: Client API, files: chmod. */
export const ModesInput = () =>
  z.object({
    root: z.string().nullish(),
    files: entriesOf(z.object({ file: entryPath(), mode: Mode() })),
  })

/**
 * There is a copy beside the file, whose name the daemon finds. Records `server:file.copy`. Refuses with 404
 * what is missing, with 400 what is no file, with 403 what the egg protects. Wings: POST …/files/copy.
 */
export async function copyFile(panel: Panel, target: Target, location: string): Promise<void> {
  const { server } = target
  const path = resolveEntry('location', '/', location)
  await refuseDenied(panel, server, [path])
  const files = filesOf(panel, target)
  await exclusively(panel, server, () =>
    files.copy(path).catch((error: unknown) => refuseUnfit(panel, files, path, error)),
  )
  await record(panel, 'server:file.copy', { serverId: server.id, properties: { file: path } })
}

/** For the failure of what needs a file: 404 when there is none, 400 when it is something else. */
export async function refuseUnfit(
  panel: Panel,
  files: DaemonFiles,
  path: string,
  error: unknown,
): Promise<never> {
  if (isUnexplained(error)) {
    const entry = await findEntry(panel, files, path)
    if (entry === null) throw notFound('There is no such file.')
    if (entry.kind !== 'file') throw badRequest(`${path} is no file.`)
  }
  return refuseFileFailure(error)
}

/**
 * The things are gone for good, with all that was in them; missing ones do not matter. Records
 * `server:file.delete`. Refuses with 422 the root and what is not in the folder, with 403 what the egg
 * protects, though not what it protects inside a folder that goes. Wings: POST …/files/delete.
 */
export async function deleteFiles(
  panel: Panel,
  target: Target,
  input: z.output<ReturnType<typeof DeleteInput>>,
): Promise<void> {
  const { server } = target
  const { root, names } = await selectMembers(panel, server, input)
  await exclusively(panel, server, () => filesOf(panel, target).remove(root, names).catch(refuseFileFailure))
  const properties = { directory: shownDirectory(root), files: names }
  await record(panel, 'server:file.delete', { serverId: server.id, properties })
}

/**
 * The folder is there, with those above it; one that was there stays as it is. Records
 * `server:file.create-directory`. Refuses with 400 when a file is in the way, with 403 what the egg protects.
 * Wings: POST …/files/create-directory.
 */
export async function createFolder(
  panel: Panel,
  target: Target,
  input: z.output<ReturnType<typeof FolderInput>>,
): Promise<void> {
  const { server } = target
  const root = resolvePath('root', input.root ?? '/')
  const path = resolveEntry('name', root, input.name)
  await refuseDenied(panel, server, [path])
  const place = splitPath(path)
  const files = filesOf(panel, target)
  await exclusively(panel, server, () =>
    files.createDirectory(place.directory, place.name).catch(async (error: unknown) => {
      const entry = isUnexplained(error) ? await findEntry(panel, files, path).catch(() => null) : null
      if (entry && entry.kind !== 'folder') throw badRequest(`${path} is there already and no folder.`)
      return refuseObstacle(panel, files, path, error)
    }),
  )
  const properties = { directory: shownDirectory(place.directory), name: place.name }
  await record(panel, 'server:file.create-directory', { serverId: server.id, properties })
}

/**
 * The things have these rights, one after the other; missing ones do not matter. When one fails, those before
 * it are changed, and the refusal names it. Records nothing, as in the ecosystem. Refuses with 403 what the
 * egg protects. Wings: POST …/files/chmod, where builds mix up several entries of one call.
 */
export async function changeModes(
  panel: Panel,
  target: Target,
  input: z.output<ReturnType<typeof ModesInput>>,
): Promise<void> {
  const root = resolvePath('root', input.root ?? '/')
  const changes = input.files.map(({ file, mode }, index) => ({
    path: resolveMember(`files.${index}.file`, root, file),
    mode,
  }))
  const paths = changes.map(({ path }) => path)
  await refuseDenied(panel, target.server, paths)
  const files = filesOf(panel, target)
  const failure = await exclusively(panel, target.server, (renew) =>
    oneByOne(
      panel,
      renew,
      changes,
      ({ path }) => nameIn(root, path),
      async ({ path, mode }) => {
        const place = splitPath(path)
        await files.changeMode(place.directory, place.name, mode).catch(refuseFileFailure)
      },
    ),
  )
  if (failure !== null) throw failure
}
