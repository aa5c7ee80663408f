import { and, count, eq, inArray, isNull, not, sql } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { serverPlacements, servers } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { displayError, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { lockCaller } from '../auth/caller.ts'
import { boolean, rowId } from '../fields.ts'
import { accessibleServerIds } from '../servers/access.ts'
import { isIdentifiedBy, parseServerIdentifier } from '../servers/identifiers.ts'
import { isVisibleTo, requireServerFolder } from './folders.ts'

/** Servers that one request places. */
const maxServers = 100
/** Servers that an account has marked or put into folders. */
const maxPlacements = 1000

/** Spec: docs/servers.md#favourites-and-folders. */
export const ServerPlacementInput = () =>
  z.object({
    servers: z
      .array(z.string().max(36, 'max'))
      .min(1, 'required')
      .max(maxServers, 'max')
      .describe('UUIDs or identifiers'),
    favourite: boolean().optional().describe('Stays as it is when omitted'),
    folder: rowId()
      .nullish()
      .describe('Stays as it is when omitted; null takes the servers out of their folder'),
  })
type ServerPlacementInput = z.output<ReturnType<typeof ServerPlacementInput>>

/**
 * Marks servers as favourites of the caller, or puts them into a folder of theirs. Refuses with 404 a folder that is not
 * the caller's and a server without access; with 400 more than 1,000 placed servers. Records nothing: it arranges the list
 * of the caller alone. Spec: docs/servers.md#favourites-and-folders.
 */
export async function placeServers(panel: Panel, input: ServerPlacementInput): Promise<void> {
  const { favourite, folder } = input
  await inTransaction(panel, async (tx) => {
    const user = await lockCaller(tx)
    if (folder) await requireServerFolder(tx, folder)
    const serverIds = await findAccessibleIds(tx, user, input.servers)
    const changes = {
      ...(favourite === undefined ? {} : { isFavourite: favourite }),
      ...(folder === undefined ? {} : { folderId: folder }),
    }
    if (Object.keys(changes).length === 0) return
    await tx.db
      .insert(serverPlacements)
      .values(serverIds.map((serverId) => ({ userId: user.id, serverId, ...changes })))
      .onConflictDoUpdate({ target: [serverPlacements.userId, serverPlacements.serverId], set: changes })
    const isOwn = eq(serverPlacements.userId, user.id)
    await tx.db
      .delete(serverPlacements)
      .where(and(isOwn, eq(serverPlacements.isFavourite, false), isNull(serverPlacements.folderId)))
    await requireRoom(tx, user)
  })
}

/** Returns the ids of the servers. Refuses with 404 when the user has no access to one of them. */
async function findAccessibleIds(tx: Tx, user: User, identifiers: readonly string[]): Promise<number[]> {
  const parsed = identifiers.map(parseServerIdentifier)
  const found = await tx.db
    .select({
      id: servers.id,
      uuid: sql<string>`${servers.uuid}::text`,
      short: sql<string>`lower(${servers.uuidShort})`,
    })
    .from(servers)
    .where(
      and(
        isIdentifiedBy(parsed),
        user.rootAdmin ? undefined : inArray(servers.id, accessibleServerIds(user.id)),
      ),
    )
  const known = new Set(found.flatMap(({ uuid, short }) => [uuid, short]))
  const areKnown = parsed.every(({ uuid, short }) => known.has((uuid ?? short ?? '').toLowerCase()))
  if (!areKnown) throw notFound()
  return found.map(({ id }) => id)
}

/** Refuses with 400 when the account has too many; those of servers that it lost are deleted before they count. */
async function requireRoom(tx: Tx, user: User): Promise<void> {
  const isOwn = eq(serverPlacements.userId, user.id)
  const countPlaced = async () =>
    single(await tx.db.select({ placed: count() }).from(serverPlacements).where(isOwn)).placed
  if ((await countPlaced()) <= maxPlacements) return
  const isVisible = isVisibleTo(user)
  if (isVisible) await tx.db.delete(serverPlacements).where(and(isOwn, not(isVisible)))
  if ((await countPlaced()) > maxPlacements)
    throw displayError(
      'too_many_placed_servers',
      `An account can arrange at most ${maxPlacements} servers.`,
      {
        values: { max: maxPlacements },
      },
    )
}
