import { and, eq, inArray } from 'drizzle-orm'
import { databaseHosts, databases, servers } from '../db/schema.ts'
import type { DatabaseHost } from '../db/tables/database-hosts.ts'
import type { DatabaseRow } from '../db/tables/databases.ts'
import { conflict, notFound } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import type { Occurrence } from './activity.ts'
import { mysqlHostOf } from './database-hosts.ts'
import { cancelJob, enqueue, forgetJob, type JobPayloads } from './jobs.ts'
import { leftHostAlone, refuseHostFailure } from './mysql-errors.ts'

/** Seconds after which a job takes up what nobody finished: longer than any call to a host. */
export const reconciliationGrace = 60
/** Seconds for which a host that is away is asked to drop a database: it may be down for long. */
const dropLifetime = 30 * 86_400

const reconciliationKey = ({ id }: Pick<DatabaseRow, 'id'>) => `database:${id}`

/** A job drops the database in a minute, unless it is called off: call it in the transaction that begins something. */
export const enqueueReconciliation = (panel: Panel, row: DatabaseRow): Promise<void> =>
  enqueue(
    panel,
    'reconcile-database',
    { databaseId: row.id },
    { key: reconciliationKey(row), runAt: graceFrom(panel), lifetimeSeconds: dropLifetime },
  )

/** What was begun is finished. */
export const cancelReconciliation = (panel: Panel, row: DatabaseRow): Promise<void> =>
  cancelJob(panel, reconciliationKey(row))

/** What was begun is undone. */
export const forgetReconciliation = (panel: Panel, row: DatabaseRow): Promise<void> =>
  forgetJob(panel, reconciliationKey(row))

/** What the audit log says of a database. */
export const occurrenceOf = (row: DatabaseRow): Occurrence => ({
  serverId: row.serverId,
  properties: { name: row.database },
  subjects: [{ type: 'database', id: row.id }],
})

/**
 * Database, user and row are gone; `inside` is done in the transaction that settles it.
 *
 * Refuses with 404 what somebody else deletes already, with 502 or 504 when the host says no or nothing.
 * A database in use then stays so when nothing happened to it; otherwise it is not shown any more, and a
 * job goes on.
 */
export async function dropDatabase(
  panel: Panel,
  row: DatabaseRow,
  host: DatabaseHost,
  inside: (panel: Panel) => Promise<unknown> = async () => undefined,
): Promise<void> {
  await inTransaction(panel, async (panel) => {
    if (!(await setState(panel, row, row.state, 'deleting'))) throw notFound()
    await enqueueReconciliation(panel, row)
  })
  try {
    await mysqlHostOf(panel, host).dropDatabase(row)
  } catch (error) {
    await inTransaction(panel, async (panel) => {
      if (row.state !== 'ready' || !leftHostAlone(error)) return inside(panel)
      await setState(panel, row, 'deleting', 'ready')
      await cancelReconciliation(panel, row)
    })
    refuseHostFailure(error)
  }
  await inTransaction(panel, async (panel) => {
    await erase(panel, row)
    await cancelReconciliation(panel, row)
    await inside(panel)
  })
}

/**
 * Neither row nor database is left of one whose creation or deletion nobody finished: its password was
 * given to nobody, or somebody wanted it gone.
 */
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
  await dropFromHost(panel, row.databaseHostId, row)
  await erase(panel, row)
}

/** The host holds a database no more whose row is gone already. A host that is gone needs nothing. */
export const dropLeftDatabase = (
  panel: Panel,
  { hostId, ...dropped }: JobPayloads['drop-database'],
): Promise<void> => dropFromHost(panel, hostId, dropped)

/**
 * The server has no databases any more. Refuses with 409 while one is being created, with 502 or 504 when
 * a host says no or nothing: those that were dropped before are gone then, the others are kept.
 */
export async function dropDatabasesOf(panel: Panel, serverId: number): Promise<void> {
  const found = await panel.db
    .select({ row: databases, host: databaseHosts })
    .from(databases)
    .innerJoin(databaseHosts, eq(databaseHosts.id, databases.databaseHostId))
    .where(eq(databases.serverId, serverId))
    .orderBy(databases.id)
  if (found.some(({ row }) => row.state === 'creating')) throw databasesChange()
  for (const { row, host } of found) await dropDatabase(panel, row, host)
}

/**
 * In the transaction that erases the server: nobody adds a database to it any more. With `force` the panel
 * forgets those that it has, and jobs drop them; else refuses with 409 when one was added meanwhile.
 */
export async function letGoOfDatabases(panel: Panel, serverId: number, force: boolean): Promise<void> {
  await panel.db.select({ id: servers.id }).from(servers).where(eq(servers.id, serverId)).for('update')
  const ofServer = eq(databases.serverId, serverId)
  if (!force) {
    const [left] = await panel.db.select({ id: databases.id }).from(databases).where(ofServer).limit(1)
    if (left) throw databasesChange()
    return
  }
  for (const row of await panel.db.delete(databases).where(ofServer).returning())
    await enqueueDrop(panel, row)
}

/** A job drops a database whose row is gone: one that may be being created right now in a minute. */
export function enqueueDrop(panel: Panel, row: DatabaseRow): Promise<void> {
  const { databaseHostId: hostId, database, username, remote, state } = row
  return enqueue(
    panel,
    'drop-database',
    { hostId, database, username, remote },
    { lifetimeSeconds: dropLifetime, ...(state === 'creating' ? { runAt: graceFrom(panel) } : {}) },
  )
}

const graceFrom = (panel: Panel) => new Date(panel.now().getTime() + reconciliationGrace * 1000)

const databasesChange = () => conflict('A database of the server is being created. Try again in a minute.')

async function dropFromHost(
  panel: Panel,
  hostId: number,
  dropped: Pick<DatabaseRow, 'database' | 'username' | 'remote'>,
): Promise<void> {
  const [host] = await panel.db.select().from(databaseHosts).where(eq(databaseHosts.id, hostId))
  if (host) await mysqlHostOf(panel, host).dropDatabase(dropped)
}

/** Whether the row was in that state, and is in the next one now. */
export async function setState(
  panel: Panel,
  { id }: DatabaseRow,
  from: DatabaseRow['state'],
  to: DatabaseRow['state'],
): Promise<boolean> {
  const moved = await panel.db
    .update(databases)
    .set({ state: to })
    .where(and(eq(databases.id, id), eq(databases.state, from)))
    .returning({ id: databases.id })
  return moved.length > 0
}

async function erase(panel: Panel, { id }: DatabaseRow): Promise<void> {
  await panel.db.delete(databases).where(and(eq(databases.id, id), eq(databases.state, 'deleting')))
}
