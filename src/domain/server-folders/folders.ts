import { and, count, eq, inArray, type SQL, sql } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { serverFolders, serverPlacements } from '../../db/schema.ts'
import type { ServerFolder } from '../../db/tables/server-folders.ts'
import type { User } from '../../db/tables/users.ts'
import { displayError, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { lockCaller, requireCaller } from '../auth/caller.ts'
import { text } from '../fields.ts'
import { accessibleServerIds } from '../servers/access.ts'
import { rejectDuplicates } from '../validation.ts'

/** Folders per account. */
const maxFolders = 50

/** Spec: docs/servers.md#favourites-and-folders. */
export const ServerFolderInput = () => z.object({ name: text(50) })
type ServerFolderInput = z.output<ReturnType<typeof ServerFolderInput>>

/** A folder with the number of servers in it to which its owner has access. */
export type CountedFolder = Pick<ServerFolder, 'id' | 'name'> & { servers: number }

/** Matches placements of servers to which the user has access. */
export const isVisibleTo = (user: Pick<User, 'id' | 'rootAdmin'>): SQL | undefined =>
  user.rootAdmin ? undefined : inArray(serverPlacements.serverId, accessibleServerIds(user.id))

/** Lists the caller's folders by name. Spec: docs/servers.md#favourites-and-folders. */
export function listServerFolders(tx: Tx): Promise<CountedFolder[]> {
  const user = requireCaller(tx)
  const counted = tx.db
    .select({ servers: count() })
    .from(serverPlacements)
    .where(and(eq(serverPlacements.folderId, serverFolders.id), isVisibleTo(user)))
  return tx.db
    .select({
      id: serverFolders.id,
      name: serverFolders.name,
      servers: sql<number>`(${counted})`.mapWith(Number),
    })
    .from(serverFolders)
    .where(eq(serverFolders.userId, user.id))
    .orderBy(sql`lower(${serverFolders.name})`, serverFolders.id)
}

/**
 * Creates a folder. Refuses with 422 a name that another folder of the caller has, ignoring case; with 400 the 51st
 * folder. Records nothing: it arranges the list of the caller alone. Spec: docs/servers.md#favourites-and-folders.
 */
export function createServerFolder(panel: Panel, { name }: ServerFolderInput): Promise<CountedFolder> {
  return inTransaction(panel, async (tx) => {
    const { id: userId } = await lockCaller(tx)
    const { held } = single(
      await tx.db.select({ held: count() }).from(serverFolders).where(eq(serverFolders.userId, userId)),
    )
    if (held >= maxFolders)
      throw displayError('too_many_folders', `An account can have at most ${maxFolders} folders.`, {
        values: { max: maxFolders },
      })
    const folder = await uniqueName(() => tx.db.insert(serverFolders).values({ userId, name }).returning())
    return { id: folder.id, name: folder.name, servers: 0 }
  })
}

/** Renames a folder. Refuses with 404 and, as `createServerFolder` does, with 422. Spec: docs/servers.md#favourites-and-folders. */
export function renameServerFolder(
  panel: Panel,
  id: number,
  { name }: ServerFolderInput,
): Promise<CountedFolder> {
  return inTransaction(panel, async (tx) => {
    await requireServerFolder(tx, id)
    await uniqueName(() =>
      tx.db
        .update(serverFolders)
        .set({ name, updatedAt: tx.now() })
        .where(eq(serverFolders.id, id))
        .returning(),
    )
    const folders = await listServerFolders(tx)
    return single(folders.filter((folder) => folder.id === id))
  })
}

/** Deletes a folder; its servers stay. Refuses with 404. Spec: docs/servers.md#favourites-and-folders. */
export async function deleteServerFolder(panel: Panel, id: number): Promise<void> {
  await inTransaction(panel, async (tx) => {
    await requireServerFolder(tx, id)
    // What is no favourite has no place any more.
    await tx.db
      .delete(serverPlacements)
      .where(and(eq(serverPlacements.folderId, id), eq(serverPlacements.isFavourite, false)))
    await tx.db.delete(serverFolders).where(eq(serverFolders.id, id))
  })
}

/** Locks the caller and finds a folder of theirs. Refuses with 404. */
export async function requireServerFolder(tx: Tx, id: number): Promise<void> {
  const { id: userId } = await lockCaller(tx)
  const [folder] = await tx.db
    .select({ id: serverFolders.id })
    .from(serverFolders)
    .where(and(eq(serverFolders.id, id), eq(serverFolders.userId, userId)))
  if (!folder) throw notFound()
}

const uniqueName = async (write: () => Promise<ServerFolder[]>): Promise<ServerFolder> =>
  single(await rejectDuplicates({ server_folders_name: 'name' }, write))
