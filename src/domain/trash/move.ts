import * as z from 'zod'
import type { DaemonFiles } from '../../adapters/daemon-files.ts'
import { trashItems } from '../../db/schema.ts'
import type { TrashItem } from '../../db/tables/trash-items.ts'
import { daemonFailure, notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { refuseDenied } from '../files/denylist.ts'
import { entryPath } from '../files/fields.ts'
import { type FileEntry, findEntries, getDaemonFiles } from '../files/listing.ts'
import { withFileLock, refuseBusy, type RenewLock } from '../files/lock.ts'
import { resolveEntry, resolvePath, splitPath } from '../files/paths.ts'
import type { ServerOnNode } from '../servers/access.ts'
import { getSetting } from '../settings/settings.ts'
import { mapWithConcurrency } from './concurrency.ts'
import { isInTrash, trashPath, removeTrashFolders } from './folders.ts'
import { enqueueReconciliation, leaseUntil } from './lease.ts'
import { completeMove, deleteUnmovedItems } from './reconcile.ts'
import { renameAndVerify, toRenameApiError, UnknownOutcomeError } from './verified-rename.ts'

/** Milliseconds after which a request moves no further item. */
const maxMoveMs = 30_000
/** Seconds after which a job reconciles what a request left: longer than `maxMoveMs` and the calls for one item. */
const reconcileDelaySeconds = 60
const dayMs = 86_400_000

/** Spec: postClientServersByServerTrash. */
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
        names.forEach((name, index) => {
          if (names.indexOf(name) < index)
            context.addIssue({ code: 'custom', message: 'distinct', path: [index] })
        })
      }),
  })
type TrashInput = z.output<ReturnType<typeof TrashInput>>

/**
 * Moves files and folders of one folder to the trash. Records `server:file.trash.move` with those that were
 * moved.
 *
 * Refuses with 404 when one of them does not exist, before anything is moved; with 403 what the egg protects and
 * the trash itself; with 409 while other files of the server are being changed; and as `toFileApiError` does:
 * items that were moved before stay in the trash. A job finds out what happened to an item without an answer.
 * Spec: docs/files.md#trash. Wings: PUT …/files/rename.
 */
export async function moveToTrash(panel: Panel, target: ServerOnNode, input: TrashInput): Promise<void> {
  const { server } = target
  const directory = resolvePath('root', input.root)
  const paths = input.files.map((name, index) => resolveEntry(`files.${index}`, directory, name))
  await refuseDenied(panel, server, paths)
  const files = getDaemonFiles(panel, target)
  await withFileLock(panel, server, async (renewLock) => {
    await refuseBusy(panel, server)
    const entries = await findAll(panel, files, directory, input.files)
    const items = await insertItems(panel, server, paths, entries)
    const outcome = await moveAll(panel, files, items, renewLock)
    await inTransaction(panel, async (tx) => {
      await deleteUnmovedItems(tx, outcome.refused)
      await completeMove(tx, outcome.moved)
    })
    const unmovedIds = outcome.refused.map(({ id }) => id)
    if (unmovedIds.length > 0) panel.defer(removeTrashFolders(files, unmovedIds).catch(() => undefined))
    if (outcome.failure !== null) throw toRenameApiError(outcome.failure)
  })
}

/** Finds all of the entries. Refuses with 404 when one does not exist. */
async function findAll(
  panel: Panel,
  files: DaemonFiles,
  directory: string,
  names: string[],
): Promise<FileEntry[]> {
  const found = new Map((await findEntries(panel, files, directory, names)).map((each) => [each.name, each]))
  return names.map((name) => {
    const entry = found.get(name)
    if (!entry)
      throw notFound('entry_missing', `"${name}" does not exist in this folder.`, { values: { name } })
    return entry
  })
}

/** Inserts the rows of items to be moved, and the job that reconciles them if this request does not. */
async function insertItems(
  panel: Panel,
  server: { id: number },
  paths: string[],
  entries: FileEntry[],
): Promise<TrashItem[]> {
  const retentionDays = await getSetting(panel, 'trash.retention_days')
  const deletedAt = panel.now()
  const expiresAt = new Date(deletedAt.getTime() + retentionDays * dayMs)
  const heldUntil = leaseUntil(panel, reconcileDelaySeconds)
  const rows = paths.map((path, index) => ({
    serverId: server.id,
    path,
    name: splitPath(path).name,
    // A link counts as a file, wherever it points.
    isFile: entries[index]?.kind !== 'folder',
    heldUntil,
    deletedAt,
    expiresAt,
  }))
  return inTransaction(panel, async (tx) => {
    const items = await tx.db.insert(trashItems).values(rows).returning()
    const itemIds = items.map(({ id }) => id)
    await enqueueReconciliation(tx, itemIds, heldUntil)
    return items
  })
}

/** What happened to the items: `refused` ones are where they were; a job reconciles those in neither list. */
type MoveOutcome = { moved: TrashItem[]; refused: TrashItem[]; failure: unknown }

/** Moves one item per call, since daemons stop halfway through a list; after a failure no further one is moved. */
async function moveAll(
  panel: Panel,
  files: DaemonFiles,
  items: TrashItem[],
  renewLock: RenewLock,
): Promise<MoveOutcome> {
  const deadline = panel.now().getTime() + Math.min(maxMoveMs, panel.config.maxWaitMs)
  const moved = new Set<TrashItem>()
  const unknown = new Set<TrashItem>()
  const moveItem = async (item: TrashItem): Promise<void> => {
    if (panel.now().getTime() > deadline)
      throw daemonFailure(504, 'moving_slow', 'The node took too long to move all files.')
    await renewLock()
    try {
      if (!(await renameAndVerify(files, item.path, trashPath(item), () => isInTrash(files, item))))
        throw notFound('entry_gone', `"${item.name}" no longer exists in this folder.`, {
          values: { name: item.name },
        })
      moved.add(item)
    } catch (error) {
      if (error instanceof UnknownOutcomeError) unknown.add(item)
      throw error
    }
  }
  let failure: unknown = null
  try {
    await mapWithConcurrency(items, moveItem)
  } catch (error) {
    failure = error
  }
  const refused = items.filter((item) => !moved.has(item) && !unknown.has(item))
  return { moved: items.filter((item) => moved.has(item)), refused, failure }
}
