import { type FileEntry, filesQuery } from '../../api/files.ts'
import { queryClient } from '../../api/query-client.ts'
import { pathOf } from './chosen-files.ts'
import { nameOf, parentOf } from './paths.ts'
import type { ChosenFile } from './upload-queue.ts'

/** A file of this computer and the entry that it would replace. */
export type Replacement = { path: string; file: File; entry: FileEntry }

/** Finds the entries that an upload would replace. `base` is a folder that exists. */
export async function findReplacements(
  server: string,
  base: string,
  chosen: readonly ChosenFile[],
): Promise<Replacement[]> {
  const directories = [...new Set(chosen.map((each) => each.directory))]
  const folders = new FolderEntries(server, base)
  const entriesByDirectory = new Map(
    await Promise.all(directories.map(async (each) => [each, await folders.entriesIn(each)] as const)),
  )
  return chosen.flatMap((each) => {
    const entry = entriesByDirectory.get(each.directory)?.get(each.file.name)
    return entry ? [{ path: pathOf(each), file: each.file, entry }] : []
  })
}

/** The entries of folders by their names, each folder fetched once. New folders need no request. */
class FolderEntries {
  readonly #server: string
  readonly #base: string
  readonly #entries = new Map<string, Promise<Map<string, FileEntry>>>()

  constructor(server: string, base: string) {
    this.#server = server
    this.#base = base
  }

  entriesIn(directory: string): Promise<Map<string, FileEntry>> {
    const entries = this.#entries.get(directory) ?? this.#fetchEntries(directory)
    this.#entries.set(directory, entries)
    return entries
  }

  async #fetchEntries(directory: string): Promise<Map<string, FileEntry>> {
    const isBase = directory === this.#base || directory === '/'
    if (!isBase && !(await this.entriesIn(parentOf(directory))).has(nameOf(directory))) return new Map()
    const { entries } = await queryClient
      .fetchQuery({ ...filesQuery(this.#server, directory), staleTime: 0 })
      // An error of the folder will be reported by the upload.
      .catch(() => ({ entries: [] }))
    return new Map(entries.map((entry) => [entry.name, entry]))
  }
}
