import * as z from 'zod'
import type { DaemonFiles } from '../../adapters/daemon-files.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { invalidField } from '../validation.ts'
import { refuseFileFailure } from './daemon-failures.ts'
import { refuseDenied } from './denylist.ts'
import { entriesOf, entryPath } from './fields.ts'
import { emptyWhenMissing, filesOf, readFolder, type Target } from './listing.ts'
import { exclusively } from './lock.ts'
import { oneByOne } from './one-by-one.ts'
import { isBelow, nameIn, resolveEntry, resolvePath, shownDirectory, splitPath } from './paths.ts'

/** Spec: Client API, files: rename. `root` may be null: the root of the server. */
export const RenameInput = () =>
  z.object({
    root: z.string().nullable(),
    files: entriesOf(z.object({ from: entryPath(), to: entryPath() })),
  })

type Move = { from: string; to: string }

/**
 * Things have other names or are in other folders, which are made where they are missing; one after the
 * other. Records `server:file.rename` of those that were moved.
 *
 * When one fails, those before it stay moved and are recorded, those after it are not tried, and the refusal
 * names it: 404 when it is missing, 400 when something is at its new place, 403 when the egg protects one of
 * both. Wings: PUT …/files/rename, which says 204 also of what is missing.
 */
export async function renameFiles(
  panel: Panel,
  target: Target,
  input: z.output<ReturnType<typeof RenameInput>>,
): Promise<void> {
  const { server } = target
  const root = resolvePath('root', input.root ?? '/')
  const moves = input.files.map((file, index) => moveOf(root, file, `files.${index}`))
  await refuseDenied(
    panel,
    server,
    moves.flatMap(({ from, to }) => [from, to]),
  )
  const files = filesOf(panel, target)
  const moved: Move[] = []
  const failure = await exclusively(panel, server, (renew) => {
    const known = new KnownFolders(panel, files)
    return oneByOne(
      panel,
      renew,
      moves,
      ({ from }) => nameIn(root, from),
      async (move) => {
        if (!(await known.has(move.from))) throw notFound(`There is no ${nameIn(root, move.from)}.`)
        if (move.from === move.to) return
        await files.rename(move.from, move.to).catch(refuseFileFailure)
        known.move(move)
        moved.push(move)
      },
    )
  })
  if (moved.length > 0) {
    const renamed = moved.map(({ from, to }) => ({ from: nameIn(root, from), to: nameIn(root, to) }))
    const properties = { directory: shownDirectory(root), files: renamed }
    await record(panel, 'server:file.rename', { serverId: server.id, properties })
  }
  if (failure !== null) throw failure
}

function moveOf(root: string, file: Move, field: string): Move {
  const from = resolveEntry(`${field}.from`, root, file.from)
  const to = resolveEntry(`${field}.to`, root, file.to)
  if (isBelow(from, to)) {
    throw invalidField(`${field}.to`, 'p_path', `The ${field}.to field leads into what is moved.`)
  }
  return { from, to }
}

/** Names in the folders that were looked into, kept true while things are moved. */
class KnownFolders {
  readonly #names = new Map<string, Set<string>>()
  readonly #panel: Panel
  readonly #files: DaemonFiles

  constructor(panel: Panel, files: DaemonFiles) {
    this.#panel = panel
    this.#files = files
  }

  async has(path: string): Promise<boolean> {
    const { directory, name } = splitPath(path)
    const known = this.#names.get(directory) ?? (await this.#look(directory))
    return known.has(name)
  }

  async #look(directory: string): Promise<Set<string>> {
    const entries = await readFolder(this.#panel, this.#files, directory).catch(emptyWhenMissing)
    const names = new Set(entries.map(({ name }) => name))
    this.#names.set(directory, names)
    return names
  }

  /** Folders that came along, or were made on the way, are looked into again. */
  move({ from, to }: Move): void {
    const { directory, name } = splitPath(from)
    this.#names.get(directory)?.delete(name)
    for (const known of this.#names.keys()) {
      if (known !== directory && (isBelow(from, known) || known === from || isBelow(known, to))) {
        this.#names.delete(known)
      }
    }
    if (isBelow(directory, to)) this.#names.get(directory)?.add(nameIn(directory, to).split('/')[0] ?? '')
  }
}
