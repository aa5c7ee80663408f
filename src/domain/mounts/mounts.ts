import { and, eq, ne, sql } from 'drizzle-orm'
import { alias, type PgColumn } from 'drizzle-orm/pg-core'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import type { RowPage } from '../../db/pagination.ts'
import { findRow, listRows } from '../../db/related-rows.ts'
import { eggMount, mountNode, mounts, mountServer } from '../../db/schema.ts'
import type { Mount } from '../../db/tables/mounts.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordAdminEvent, recordAdminUpdate } from '../activity/record.ts'
import { requireAccessLevel } from '../auth/access-levels.ts'
import { boolean, rowId, text, textBetween } from '../fields.ts'
import {
  combineFilters,
  containsFilter,
  type Filter,
  idFilter,
  type ListRequest,
  orderByColumns,
} from '../filters.ts'
import { invalidField, rejectDuplicates } from '../validation.ts'
import { requireExpectedVersion, versionOf } from '../versions.ts'
import { findMembers, type MountMembers, replaceMembers } from './members.ts'
import { refuseServerFiles, sourceField, targetField } from './paths.ts'

/** As many as an answer shows of a relation, so that who replaces the list knows all of it. */
const maxMembers = 500
const memberIds = () => z.array(rowId()).max(maxMembers, 'max').nullish()

/** A mount to create. Spec: docs/servers.md#mounts. */
export const MountInput = () =>
  z.object({
    name: textBetween(2, 64),
    description: text(191, 0).nullish(),
    source: sourceField().describe('Absolute path of the folder on the node'),
    target: targetField().describe('Absolute path in the container'),
    read_only: boolean().nullish().describe('true when omitted'),
    user_mountable: boolean().nullish().describe('Kept for programs that offer mounts to users'),
    eggs: memberIds().describe('The eggs whose servers may have it; replaces the list'),
    nodes: memberIds().describe('The nodes that have the source; replaces the list'),
  })
/** The fields of `MountInput`, all optional. Spec: docs/servers.md#mounts. */
export const MountChanges = () => MountInput().partial()
type MountInput = z.output<ReturnType<typeof MountInput>>
type MountChanges = z.output<ReturnType<typeof MountChanges>>

const uniqueConstraints = { mounts_name: 'name' }

/** Matches mounts by the ids at the other side of a table between. */
const memberFilter =
  (table: typeof eggMount | typeof mountNode | typeof mountServer, member: PgColumn): Filter =>
  (values) =>
    sql`${mounts.id} in (select ${table.mountId} from ${table} where ${idFilter(member)(values)})`

const filters = {
  uuid: containsFilter(mounts.uuid),
  name: containsFilter(mounts.name),
  egg_id: memberFilter(eggMount, eggMount.eggId),
  node_id: memberFilter(mountNode, mountNode.nodeId),
  server_id: memberFilter(mountServer, mountServer.serverId),
}
/** Names of the fields that `filter` accepts. */
export const mountFilters = Object.keys(filters)

/** Lists one page of mounts. */
export const listMounts = (panel: Panel, request: ListRequest, include: string[]): Promise<RowPage<Mount>> =>
  listRows(panel.db, 'mount', {
    ...request,
    include,
    search: combineFilters(filters, request.filters),
    orderBy: orderByColumns({ id: mounts.id, name: mounts.name }, request.sorts),
  })

/** Finds a mount with the included relations. Refuses with 404. */
export async function findMount(panel: Panel, id: number, include: string[] = []): Promise<Mount> {
  const mount = await findRow<Mount>(panel.db, 'mount', eq(mounts.id, id), include)
  if (!mount) throw notFound()
  return mount
}

/**
 * Creates a mount. Refuses with 403 eggs and nodes that the caller may not write; with 422 a name that is taken, eggs
 * and nodes that do not exist, and a source with the files of servers. Records `admin:mount.create`.
 */
export async function addMount(panel: Panel, input: MountInput): Promise<Mount> {
  return rejectDuplicates(uniqueConstraints, () =>
    inTransaction(panel, async (tx) => {
      const { name, source, target } = input
      const values = { ...mountColumns(input), name, source, target }
      const mount = single(await tx.db.insert(mounts).values(values).returning())
      await changeMembers(tx, { mount: null, members: { eggs: [], nodes: [] } }, mount, input)
      await recordAdminEvent(tx, 'admin:mount.create', toSubject(mount), { name })
      return mount
    }),
  )
}

/**
 * Changes the fields that were sent; servers have the change when they start next, since daemons ask for mounts then.
 * Refuses as `addMount` does; with 404, with 412 another version than the caller expects, and with 422 a target at which one of its servers has another mount. Records
 * `admin:mount.update`.
 */
export async function changeMount(panel: Panel, id: number, input: MountChanges): Promise<Mount> {
  return rejectDuplicates(uniqueConstraints, () =>
    inTransaction(panel, async (tx) => {
      const [before] = await tx.db.select().from(mounts).where(eq(mounts.id, id)).for('update')
      if (!before) throw notFound()
      requireExpectedVersion(tx, versionOf(before))
      const changes = { ...mountColumns(input), updatedAt: tx.now() }
      const mount = single(await tx.db.update(mounts).set(changes).where(eq(mounts.id, id)).returning())
      if (mount.target !== before.target) await refuseOccupiedTarget(tx, mount)
      const members = await findMembers(tx, id)
      const changed = await changeMembers(tx, { mount: before, members }, mount, input)
      await recordAdminUpdate(tx, 'admin:mount.update', toSubject(mount), {
        name: mount.name,
        before: { ...before, ...members },
        after: { ...mount, ...changed },
      })
      return mount
    }),
  )
}

/** Deletes a mount; its servers start without it. Refuses with 404. Records `admin:mount.delete`. */
export async function removeMount(panel: Panel, id: number): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const [removed] = await tx.db.delete(mounts).where(eq(mounts.id, id)).returning()
    if (!removed) throw notFound()
    await recordAdminEvent(tx, 'admin:mount.delete', toSubject(removed), { name: removed.name })
  })
}

/** Returns the columns of the fields that were sent. */
const mountColumns = (input: MountChanges) => ({
  name: input.name,
  description: input.description === null ? '' : input.description,
  source: input.source,
  target: input.target,
  readOnly: input.read_only ?? undefined,
  userMountable: input.user_mountable ?? undefined,
})

/** Replaces the lists that were sent, and returns both. A change that reaches eggs or nodes needs the level there. */
async function changeMembers(
  tx: Tx,
  before: { mount: Mount | null; members: MountMembers },
  mount: Mount,
  input: Pick<MountChanges, 'eggs' | 'nodes'>,
): Promise<MountMembers> {
  const after = {
    eggs: sortedIds(input.eggs) ?? before.members.eggs,
    nodes: sortedIds(input.nodes) ?? before.members.nodes,
  }
  const isMoved = mount.source !== before.mount?.source && after.nodes.length > 0
  if (differ(before.members.eggs, after.eggs)) requireAccessLevel(tx, 'eggs', 'write')
  if (isMoved || differ(before.members.nodes, after.nodes)) requireAccessLevel(tx, 'nodes', 'write')
  await replaceMembers(tx, mount.id, after)
  await refuseServerFiles(tx, mount.id, mount.source)
  return after
}

const sortedIds = (ids: number[] | null | undefined) =>
  ids ? [...new Set(ids)].toSorted((one, other) => one - other) : null
const differ = (one: number[], other: number[]) => one.join() !== other.join()

/** Refuses with 422 a target at which a server with this mount has another one: Docker would not start it. */
async function refuseOccupiedTarget(tx: Tx, { id, target }: Mount): Promise<void> {
  const other = alias(mountServer, 'other')
  const [occupied] = await tx.db
    .select({ name: mounts.name })
    .from(mountServer)
    .innerJoin(other, and(eq(other.serverId, mountServer.serverId), ne(other.mountId, id)))
    .innerJoin(mounts, eq(mounts.id, other.mountId))
    .where(and(eq(mountServer.mountId, id), eq(mounts.target, target)))
    .limit(1)
  if (occupied)
    throw invalidField('target', 'unique', `A server with this mount has ${occupied.name} at this path.`, {
      reason: 'mount_target_taken',
      values: { mount: occupied.name },
    })
}

const toSubject = ({ id }: Mount) => ({ type: 'mount' as const, id })
