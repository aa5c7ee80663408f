import { and, eq, inArray } from 'drizzle-orm'
import { databaseHosts, databases, servers } from '../../db/schema.ts'
import type { DatabaseHost } from '../../db/tables/database-hosts.ts'
import type { DatabaseRow } from '../../db/tables/databases.ts'
import { conflict, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import type { ActivityDetails } from '../activity/record.ts'
import { cancelJob, deleteWaitingJob, enqueueJob, type JobPayloads } from '../jobs/enqueue.ts'
import { isHostUnchanged, toHostApiError } from './host-errors.ts'
import { mysqlHostFor } from './hosts.ts'

/** Seconds after which a job takes over what a dead request left: longer than any call to a host. */
export const reconciliationDelaySeconds = 60
/** Seconds for which dropping a database on a host that does not answer is retried. */
const dropLifetimeSeconds = 30 * 86_400

const reconciliationKey = ({ id }: Pick<DatabaseRow, 'id'>) => `database:${id}`

/**
 * Enqueues a job that drops the database in a minute unless it is cancelled; call it in the transaction that
 * begins a change.
 */
export const enqueueReconciliation = (tx: Tx, row: DatabaseRow): Promise<void> =>
  enqueueJob(
    tx,
    'reconcile-database',
    { databaseId: row.id },
    { key: reconciliationKey(row), runAt: reconciliationTime(tx), lifetimeSeconds: dropLifetimeSeconds },
  )

/** Cancels the job, as the change is finished. */
export const cancelReconciliation = (tx: Tx, row: DatabaseRow): Promise<void> =>
  cancelJob(tx, reconciliationKey(row))

/** Deletes the job, as the change is undone. */
export const deleteReconciliation = (tx: Tx, row: DatabaseRow): Promise<void> =>
  deleteWaitingJob(tx, reconciliationKey(row))

/** Returns the details of a database for the activity log. */
export const toDatabaseActivity = (row: DatabaseRow): ActivityDetails => ({
  serverId: row.serverId,
  properties: { name: row.database },
  subjects: [{ type: 'database', id: row.id }],
})

/**
 * Drops a database and its user and deletes the row; `afterDrop` runs in the transaction that deletes the row.
 *
 * Refuses with 404 what another request deletes already, with 502 or 504 when the host fails. A ready database
 * stays ready when the host has not changed; otherwise it is hidden and a job finishes the deletion.
 */
export async function dropDatabase(
  panel: Panel,
  row: DatabaseRow,
  host: DatabaseHost,
  afterDrop: (tx: Tx) => Promise<unknown> = async () => undefined,
): Promise<void> {
  await inTransaction(panel, async (tx) => {
    if (!(await transitionState(tx, row, row.state, 'deleting'))) throw notFound()
    await enqueueReconciliation(tx, row)
  })
  try {
    await mysqlHostFor(panel, host).dropDatabase(row)
  } catch (error) {
    await inTransaction(panel, async (tx) => {
      if (row.state !== 'ready' || !isHostUnchanged(error)) return afterDrop(tx)
      await transitionState(tx, row, 'deleting', 'ready')
      await cancelReconciliation(tx, row)
    })
    throw toHostApiError(error)
  }
  await inTransaction(panel, async (tx) => {
    await deleteDatabaseRow(tx, row)
    await cancelReconciliation(tx, row)
    await afterDrop(tx)
  })
}

/** Runs `reconcile-database`: drops a database whose creation or deletion was abandoned, and deletes its row. */
export async function reconcileDatabase(
  panel: Panel,
  { databaseId }: JobPayloads['reconcile-database'],
): Promise<void> {
  const [row] = await panel.db
    .update(databases)
    .set({ state: 'deleting' })
    .where(and(eq(databases.id, databaseId), inArray(databases.state, ['creating', 'deleting'])))
    .returning()
  if (!row) return
  await dropOnHost(panel, row.databaseHostId, row)
  await deleteDatabaseRow(panel, row)
}

/** Runs `drop-database`: drops a database whose row is deleted. Does nothing when the host is deleted. */
export const dropOrphanedDatabase = (
  panel: Panel,
  { hostId, ...dropped }: JobPayloads['drop-database'],
): Promise<void> => dropOnHost(panel, hostId, dropped)

/**
 * Drops all databases of a server. Refuses with 409 while one is being created, with 502 or 504 when a host
 * fails: those dropped before stay dropped, the others are kept.
 */
export async function dropServerDatabases(panel: Panel, serverId: number): Promise<void> {
  const found = await panel.db
    .select({ row: databases, host: databaseHosts })
    .from(databases)
    .innerJoin(databaseHosts, eq(databaseHosts.id, databases.databaseHostId))
    .where(eq(databases.serverId, serverId))
    .orderBy(databases.id)
  if (found.some(({ row }) => row.state === 'creating')) throw databaseBeingCreated()
  for (const { row, host } of found) await dropDatabase(panel, row, host)
}

/**
 * Locks the server against new databases, in the transaction that deletes it. With `force` deletes the rows and
 * leaves the hosts to jobs; else refuses with 409 when a database was added meanwhile.
 */
export async function releaseDatabases(tx: Tx, serverId: number, force: boolean): Promise<void> {
  await tx.db.select({ id: servers.id }).from(servers).where(eq(servers.id, serverId)).for('update')
  const ofServer = eq(databases.serverId, serverId)
  if (!force) {
    const [remaining] = await tx.db.select({ id: databases.id }).from(databases).where(ofServer).limit(1)
    if (remaining) throw databaseBeingCreated()
    return
  }
  for (const row of await tx.db.delete(databases).where(ofServer).returning()) await enqueueDrop(tx, row)
}

/** Enqueues a job that drops a database whose row is deleted; after a minute when it may be being created. */
export function enqueueDrop(tx: Tx, row: DatabaseRow): Promise<void> {
  const { databaseHostId: hostId, database, username, remote, state } = row
  return enqueueJob(
    tx,
    'drop-database',
    { hostId, database, username, remote },
    {
      lifetimeSeconds: dropLifetimeSeconds,
      ...(state === 'creating' ? { runAt: reconciliationTime(tx) } : {}),
    },
  )
}

const reconciliationTime = (tx: Tx) => new Date(tx.now().getTime() + reconciliationDelaySeconds * 1000)

const databaseBeingCreated = () =>
  conflict('database_being_created', 'A database of the server is being created. Try again in a minute.')

async function dropOnHost(
  panel: Panel,
  hostId: number,
  dropped: Pick<DatabaseRow, 'database' | 'username' | 'remote'>,
): Promise<void> {
  const [host] = await panel.db.select().from(databaseHosts).where(eq(databaseHosts.id, hostId))
  if (host) await mysqlHostFor(panel, host).dropDatabase(dropped)
}

/** Moves the row from one state to the next; returns false when it was not in the first one. */
export async function transitionState(
  tx: Tx,
  { id }: DatabaseRow,
  from: DatabaseRow['state'],
  to: DatabaseRow['state'],
): Promise<boolean> {
  const updated = await tx.db
    .update(databases)
    .set({ state: to })
    .where(and(eq(databases.id, id), eq(databases.state, from)))
    .returning({ id: databases.id })
  return updated.length > 0
}

async function deleteDatabaseRow(tx: Tx, { id }: DatabaseRow): Promise<void> {
  await tx.db.delete(databases).where(and(eq(databases.id, id), eq(databases.state, 'deleting')))
}
