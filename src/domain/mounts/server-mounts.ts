import { and, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { embedMany } from '../../db/embed.ts'
import { eggMount, mountNode, mounts, mountServer, nodes, servers } from '../../db/schema.ts'
import type { Mount } from '../../db/tables/mounts.ts'
import type { Server } from '../../db/tables/servers.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { rowId, withFieldAliases } from '../fields.ts'
import { recordServerEvent } from '../servers/audit.ts'
import { configuredColumns, type ConfiguredMount } from '../servers/daemon-settings.ts'
import { findServerNode, lockServer, rowVersion } from '../servers/lock.ts'
import { enqueueSync, type ServerChange, tryDeliverChange } from '../servers/sync.ts'
import { invalidField } from '../validation.ts'

/** The mount that a server gets. Spec: docs/servers.md#mounts. */
export const ServerMountInput = () => withFieldAliases({ mount_id: 'mount' }, z.object({ mount: rowId() }))
type ServerMountInput = z.output<ReturnType<typeof ServerMountInput>>

/**
 * Selects the mounts of a server (`servers`) that its egg and the node that asks (`nodes`) allow: that of a transfer
 * gets those that it has itself.
 */
export const embedMounts = () =>
  embedMany(mounts, {
    columns: configuredColumns.mount,
    where: (mount) => sql`exists (select 1 from ${mountServer}
      inner join ${eggMount} on ${eggMount.mountId} = ${mountServer.mountId} and ${eggMount.eggId} = ${servers.eggId}
      inner join ${mountNode} on ${mountNode.mountId} = ${mountServer.mountId} and ${mountNode.nodeId} = ${nodes.id}
      where ${mountServer.mountId} = ${mount.id} and ${mountServer.serverId} = ${servers.id})`,
  }) as SQL<ConfiguredMount[]>

/**
 * Gives a server a mount, which its container has from its next start on. Does nothing when it has it. Refuses with
 * 404 an unknown server; with 422 an unknown mount, one that the egg or the node does not allow, and a target at which
 * the server has another mount. Records `admin:server.mount`. Wings: POST /api/servers/{uuid}/sync
 */
export async function addServerMount(panel: Panel, serverId: number, input: ServerMountInput): Promise<void> {
  const change = await inTransaction(panel, async (tx) => {
    const server = await lockServer(tx, serverId)
    const mount = await lockFreeMount(tx, server, input.mount)
    await refuseUnavailable(tx, server, mount)
    const added = await tx.db
      .insert(mountServer)
      .values({ serverId, mountId: mount.id })
      .onConflictDoNothing()
      .returning()
    if (added.length === 0) return null
    await recordServerEvent(tx, 'admin:server.mount', server, { mount: mount.name })
    return changedServer(tx, server)
  })
  if (change) await tryDeliverChange(panel, change)
}

/**
 * Takes a mount from a server, whose container has it until its next start. Refuses with 404. Records
 * `admin:server.unmount`. Wings: POST /api/servers/{uuid}/sync
 */
export async function removeServerMount(panel: Panel, serverId: number, mountId: number): Promise<void> {
  const change = await inTransaction(panel, async (tx) => {
    const server = await lockServer(tx, serverId)
    const ofServer = and(eq(mountServer.serverId, serverId), eq(mountServer.mountId, mountId))
    const [mount] = await tx.db.select().from(mounts).where(eq(mounts.id, mountId))
    const removed = await tx.db.delete(mountServer).where(ofServer).returning()
    if (!mount || removed.length === 0) throw notFound()
    await recordServerEvent(tx, 'admin:server.unmount', server, { mount: mount.name })
    return changedServer(tx, server)
  })
  await tryDeliverChange(panel, change)
}

/** Locks the mount and those that the server has, whose targets stay until the transaction ends. */
async function lockFreeMount(tx: Tx, server: Server, mountId: number): Promise<Mount> {
  const ofServer = tx.db
    .select({ id: mountServer.mountId })
    .from(mountServer)
    .where(eq(mountServer.serverId, server.id))
  const locked = await tx.db
    .select()
    .from(mounts)
    .where(or(eq(mounts.id, mountId), inArray(mounts.id, ofServer)))
    .orderBy(mounts.id)
    .for('share')
  const mount = locked.find(({ id }) => id === mountId)
  if (!mount) throw invalidField('mount', 'exists', 'The mount does not exist.')
  const other = locked.find(({ id, target }) => id !== mountId && target === mount.target)
  if (other)
    throw invalidField('mount', 'unique', `The server has ${other.name} at ${mount.target}.`, {
      reason: 'mount_collides',
      values: { mount: other.name, path: mount.target },
    })
  return mount
}

async function refuseUnavailable(tx: Tx, server: Server, { id }: Mount): Promise<void> {
  const allowed = single(
    await tx.db
      .select({
        byEgg: sql<boolean>`exists (select 1 from ${eggMount} where ${eggMount.mountId} = ${id} and ${eggMount.eggId} = ${server.eggId})`,
        byNode: sql<boolean>`exists (select 1 from ${mountNode} where ${mountNode.mountId} = ${id} and ${mountNode.nodeId} = ${server.nodeId})`,
      })
      .from(sql`(values (1)) one`),
  )
  if (!allowed.byEgg)
    throw invalidField('mount', 'in', 'The egg of the server does not allow the mount.', {
      reason: 'mount_not_of_egg',
    })
  if (!allowed.byNode)
    throw invalidField('mount', 'in', 'The node of the server does not have the mount.', {
      reason: 'mount_not_of_node',
    })
}

/** Marks the server as changed and enqueues the sync with its daemon. */
async function changedServer(tx: Tx, server: Server): Promise<ServerChange> {
  const { node } = await findServerNode(tx, server)
  const { version } = single(
    await tx.db
      .update(servers)
      .set({ updatedAt: tx.now() })
      .where(eq(servers.id, server.id))
      .returning({ version: rowVersion }),
  )
  await enqueueSync(tx, server.id)
  return { server, node, version }
}
