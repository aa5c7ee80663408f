import type { DaemonFiles } from '../../adapters/daemon-files.ts'
import { DaemonError } from '../../adapters/daemon-error.ts'
import { ApiError } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { emptyIfNotFound, findEntries } from './listing.ts'
import { isBelow, relativeName, splitPath } from './paths.ts'

/** A rename of an entry. Paths are absolute. */
export type Move = { from: string; to: string }

/**
 * Creates a cache of which entries of these moves exist, which stays true while they are moved. Each folder is listed
 * once; the entries of one that is too large to search count as existing.
 */
export function createFolderCache(panel: Panel, files: DaemonFiles, moves: readonly Move[]) {
  const namesByFolder = new Map<string, Set<string>>()
  const wantedNames = Map.groupBy(moves, ({ from }) => splitPath(from).directory)
  const readNames = async (directory: string): Promise<Set<string>> => {
    const wanted = (wantedNames.get(directory) ?? []).map(({ from }) => splitPath(from).name)
    const entries = await findEntries(panel, files, directory, wanted)
      .catch(emptyIfNotFound)
      .catch(nullIfTooLarge)
    const names = new Set(entries?.map(({ name }) => name) ?? wanted)
    namesByFolder.set(directory, names)
    return names
  }
  const has = async (path: string): Promise<boolean> => {
    const { directory, name } = splitPath(path)
    const names = namesByFolder.get(directory) ?? (await readNames(directory))
    return names.has(name)
  }
  return {
    has,
    /** Finds those of the moves whose entries exist. */
    async findExisting(candidates: readonly Move[]): Promise<Move[]> {
      const existing: Move[] = []
      for (const move of candidates) if (await has(move.from)) existing.push(move)
      return existing
    },
    /** Drops folders that moved along or were created on the way: they are read again. */
    move({ from, to }: Move): void {
      const { directory, name } = splitPath(from)
      namesByFolder.get(directory)?.delete(name)
      for (const cached of namesByFolder.keys()) {
        const isAffected = isBelow(from, cached) || cached === from || isBelow(cached, to)
        if (cached !== directory && isAffected) namesByFolder.delete(cached)
      }
      if (isBelow(directory, to)) {
        namesByFolder.get(directory)?.add(relativeName(directory, to).split('/')[0] ?? '')
      }
    },
  }
}

/** Converts the failure to search a folder that is too large into null, for `.catch`; throws other errors again. */
function nullIfTooLarge(error: unknown): null {
  const cause = error instanceof ApiError ? error.cause : error
  if (cause instanceof DaemonError && cause.isTooLarge) return null
  throw error
}
