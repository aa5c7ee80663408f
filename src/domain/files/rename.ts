import * as z from 'zod'
import type { DaemonFiles } from '../../adapters/daemon-files.ts'
import { ApiError } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import type { ServerOnNode } from '../servers/access.ts'
import { invalidField } from '../validation.ts'
import { toFileApiError, withContext } from './daemon-failures.ts'
import { refuseDenied } from './denylist.ts'
import { entryList, entryPath } from './fields.ts'
import { createFolderCache, type Move } from './folder-cache.ts'
import { getDaemonFiles } from './listing.ts'
import { type RenewLock, withFileLock } from './lock.ts'
import { isBelow, relativeName, resolveEntry, resolvePath, displayDirectory } from './paths.ts'
import { runSequentially } from './sequential.ts'

/** Spec: putClientServersByServerFilesRename. A `root` of null is the root of the server. */
export const RenameInput = () =>
  z.object({
    root: z.string().nullable(),
    files: entryList(z.object({ from: entryPath(), to: entryPath() })),
  })

/**
 * Renames or moves entries and creates missing folders. The daemon gets them in one call when none of them depends on
 * another one, else one after the other. Records `server:file.rename` with the entries that were moved.
 *
 * A missing entry is what the daemon says it is, which is no error on stock ones. Refuses with 400 when a destination
 * exists, with 403 when the egg protects either path; the error says how many were moved all the same.
 * Spec: docs/files.md#changing. Wings: PUT …/files/rename.
 */
export async function renameFiles(
  panel: Panel,
  target: ServerOnNode,
  input: z.output<ReturnType<typeof RenameInput>>,
): Promise<void> {
  const { server } = target
  const root = resolvePath('root', input.root ?? '/')
  const moves = input.files.map((file, index) => resolveMove(root, file, `files.${index}`))
  await refuseDenied(
    panel,
    server,
    moves.flatMap(({ from, to }) => [from, to]),
  )
  const changes = moves.filter(({ from, to }) => from !== to)
  if (changes.length === 0) return
  const files = getDaemonFiles(panel, target)
  const { moved, failure } = await withFileLock(panel, server, (renewLock) =>
    areIndependent(changes)
      ? moveTogether(panel, files, root, changes)
      : moveInOrder(panel, files, root, changes, renewLock),
  )
  if (moved.length > 0) await recordMoves(panel, server, root, moved)
  if (failure !== null) throw failure
}

type Outcome = { moved: Move[]; failure: unknown }

/** Whether no path of the moves is, or is above, another one: then their order does not matter. */
function areIndependent(moves: readonly Move[]): boolean {
  const paths = moves.flatMap(({ from, to }) => [from, to])
  const known = new Set(paths)
  return (
    known.size === paths.length &&
    !paths.some((path) => foldersAbove(path).some((folder) => known.has(folder)))
  )
}

const foldersAbove = (path: string): string[] =>
  path
    .split('/')
    .slice(1, -1)
    .map((_, at, names) => `/${names.slice(0, at + 1).join('/')}`)

/** Moves all entries in one call. A daemon that reports a failure has tried the others, so they are looked up again. */
async function moveTogether(panel: Panel, files: DaemonFiles, root: string, moves: Move[]): Promise<Outcome> {
  const existing = await createFolderCache(panel, files, moves).findExisting(moves)
  try {
    await files.rename(moves)
    return { moved: existing, failure: null }
  } catch (error) {
    const remaining = new Set(await findRemaining(panel, files, existing))
    const moved = existing.filter((move) => !remaining.has(move))
    const apiError = toFileApiError(error)
    if (!(apiError instanceof ApiError) || moves.length === 1) return { moved, failure: apiError }
    const [stayed] = existing.filter((move) => remaining.has(move))
    const progress = `${moved.length} of ${moves.length} are done:`
    const values = { done: moved.length, total: moves.length }
    if (!stayed) {
      const context = { detail: progress, reason: 'partly_done', values } as const
      return { moved, failure: withContext(context, apiError) }
    }
    const name = relativeName(root, stayed.from)
    const detail = `${name} failed, ${progress}`
    const context = { detail, reason: 'entry_failed', values: { name, ...values } } as const
    return { moved, failure: withContext(context, apiError) }
  }
}

/** Finds the moves that did not happen; all of them when the daemon does not say. */
const findRemaining = (panel: Panel, files: DaemonFiles, moves: Move[]): Promise<Move[]> =>
  createFolderCache(panel, files, moves)
    .findExisting(moves)
    .catch(() => moves)

/** Moves one entry after the other and stops at the first failure. */
async function moveInOrder(
  panel: Panel,
  files: DaemonFiles,
  root: string,
  moves: Move[],
  renewLock: RenewLock,
): Promise<Outcome> {
  const folderCache = createFolderCache(panel, files, moves)
  const moved: Move[] = []
  const failure = await runSequentially(panel, {
    entries: moves,
    nameOf: ({ from }) => relativeName(root, from),
    renewLock,
    work: async (move) => {
      const isThere = await folderCache.has(move.from)
      await files.rename([move]).catch((error: unknown) => {
        throw toFileApiError(error)
      })
      if (!isThere) return
      folderCache.move(move)
      moved.push(move)
    },
  })
  return { moved, failure }
}

async function recordMoves(panel: Panel, server: { id: number }, root: string, moves: Move[]): Promise<void> {
  const files = moves.map(({ from, to }) => ({ from: relativeName(root, from), to: relativeName(root, to) }))
  const properties = { directory: displayDirectory(root), files }
  await recordEvent(panel, 'server:file.rename', { serverId: server.id, properties })
}

function resolveMove(root: string, file: Move, field: string): Move {
  const from = resolveEntry(`${field}.from`, root, file.from)
  const to = resolveEntry(`${field}.to`, root, file.to)
  if (isBelow(from, to)) {
    throw invalidField(
      `${field}.to`,
      'p_path',
      `The ${field}.to field must not be inside the entry that is moved.`,
      { reason: 'moved_into_itself', values: { field } },
    )
  }
  return { from, to }
}
