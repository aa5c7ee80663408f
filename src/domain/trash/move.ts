import * as z from 'zod'
import type { DaemonFiles } from '../../adapters/daemon-files.ts'
import { trashItems } from '../../db/schema.ts'
import type { TrashItem } from '../../db/tables/trash-items.ts'
import { daemonFailure, notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { refuseDenied } from '../files/denylist.ts'
import { entryPath } from '../files/fields.ts'
import { type FileEntry, filesOf, readFolder, type Target } from '../files/listing.ts'
import { exclusively, refuseBusy, type Renew } from '../files/lock.ts'
import { resolveEntry, resolvePath, splitPath } from '../files/paths.ts'
import { setting } from '../settings.ts'
import { isInTrash, placeInTrash, removeFolders } from './folders.ts'
import { enqueueSettling, holdFrom } from './hold.ts'
import { refuseRenameFailure, rename, UnknownOutcome } from './rename.ts'
import { completeMove, dropUnmoved } from './settle.ts'
import { forSeveral } from './several.ts'

/** Milliseconds after which no further item of a request is begun. */
const longestMove = 30_000
/** Seconds after which a job sees to what a request left: longer than `longestMove` and the calls for one item. */
const settlingGrace = 60
const dayInMilliseconds = 86_400_000

/** Spec: Client API, file trash. */
export const TrashInput = () =>
  z.object({
    root: entryPath().max(4096, 'max'),
    files: z
      .array(
        z
          .string()
          .min(1, 'required')
          .max(255, 'max')
          .regex(/^(?!\.{1,2}$)[^/\\\0]*$/, 'regex'),
      )
      .min(1, 'required')
      .max(100, 'max')
      .superRefine((names, context) => {
        names.forEach((name, at) => {
          if (names.indexOf(name) < at) context.addIssue({ code: 'custom', message: 'distinct', path: [at] })
        })
      }),
  })
type TrashInput = z.output<ReturnType<typeof TrashInput>>

/**
 * Files and folders of one folder are in the trash; records `server:file.trash.move` with those that are.
 *
 * Refuses with 404 when one of them is not there: then nothing was moved. With 403 what the egg protects and the
 * trash itself, with 409 while other files of the server are changed, and as `refuseFileFailure` does: then
 * what was moved before stays in the trash. What became of a file without an answer a job finds out.
 * Spec: Client API, file trash. Wings: PUT …/files/rename
 */
export async function moveToTrash(panel: Panel, target: Target, input: TrashInput): Promise<void> {
  const { server } = target
  const directory = resolvePath('root', input.root)
  const paths = input.files.map((name, at) => resolveEntry(`files.${at}`, directory, name))
  await refuseDenied(panel, server, paths)
  const files = filesOf(panel, target)
  await exclusively(panel, server, async (renew) => {
    await refuseBusy(panel, server)
    const entries = await findEntries(panel, files, directory, input.files)
    const items = await announce(panel, server, paths, entries)
    const outcome = await moveAll(panel, files, items, renew)
    await inTransaction(panel, async (panel) => {
      await dropUnmoved(panel, outcome.refused)
      await completeMove(panel, outcome.moved)
    })
    const left = outcome.refused.map(({ id }) => id)
    if (left.length > 0) panel.defer(removeFolders(files, left).catch(() => undefined))
    if (outcome.failure !== null) refuseRenameFailure(outcome.failure)
  })
}

async function findEntries(
  panel: Panel,
  files: DaemonFiles,
  directory: string,
  names: string[],
): Promise<FileEntry[]> {
  const folder = await readFolder(panel, files, directory)
  return names.map((name) => {
    const entry = folder.find((each) => each.name === name)
    if (!entry) throw notFound(`There is no "${name}" in this folder.`)
    return entry
  })
}

/** Rows of items that will be moved, and a job that sees to them if nobody else does; all or nothing. */
async function announce(
  panel: Panel,
  server: { id: number },
  paths: string[],
  entries: FileEntry[],
): Promise<TrashItem[]> {
  const retentionDays = await setting(panel, 'trash.retention_days')
  const deletedAt = panel.now()
  const expiresAt = new Date(deletedAt.getTime() + retentionDays * dayInMilliseconds)
  const heldUntil = holdFrom(panel, settlingGrace)
  const rows = paths.map((path, at) => ({
    serverId: server.id,
    path,
    name: splitPath(path).name,
    // A link is one, wherever it leads.
    isFile: entries[at]?.kind !== 'folder',
    heldUntil,
    deletedAt,
    expiresAt,
  }))
  return inTransaction(panel, async (panel) => {
    const items = await panel.db.insert(trashItems).values(rows).returning()
    const itemIds = items.map(({ id }) => id)
    await enqueueSettling(panel, itemIds, heldUntil)
    return items
  })
}

/** What became of the items: `refused` ones are where they were, what became of those in neither list a job finds out. */
type Outcome = { moved: TrashItem[]; refused: TrashItem[]; failure: unknown }

/** Moves one item a call, since daemons stop in the middle of several; after a failure no further one. */
async function moveAll(panel: Panel, files: DaemonFiles, items: TrashItem[], renew: Renew): Promise<Outcome> {
  const latest = panel.now().getTime() + Math.min(longestMove, panel.config.longestWait)
  const moved = new Set<TrashItem>()
  const unknown = new Set<TrashItem>()
  let failure: unknown = null
  await forSeveral(items, async (item) => {
    if (panel.now().getTime() > latest) throw daemonFailure(504, 'The node is too slow to move all files.')
    await renew()
    try {
      if (!(await rename(files, item.path, placeInTrash(item), () => isInTrash(files, item))))
        throw notFound(`There is no "${item.name}" in this folder any more.`)
      moved.add(item)
    } catch (error) {
      if (error instanceof UnknownOutcome) unknown.add(item)
      throw error
    }
  }).catch((error: unknown) => void (failure = error))
  const refused = items.filter((item) => !moved.has(item) && !unknown.has(item))
  return { moved: items.filter((item) => moved.has(item)), refused, failure }
}
