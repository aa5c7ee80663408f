import { and, eq, or, sql } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { databaseHosts, databases, servers } from '../../db/schema.ts'
import type { DatabaseHost } from '../../db/tables/database-hosts.ts'
import type { DatabaseRow } from '../../db/tables/databases.ts'
import { databaseHostFailure, displayError, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { rowId } from '../fields.ts'
import { encrypt, randomText } from '../secrets.ts'
import { invalidField, rejectDuplicates } from '../validation.ts'
import { isHostUnchanged, isRefusedByHost, toHostApiError } from './host-errors.ts'
import { mysqlHostFor } from './hosts.ts'
import { databasePasswordLocation, type DatabaseWithPassword, generatePassword } from './passwords.ts'
import {
  cancelReconciliation,
  deleteReconciliation,
  dropDatabase,
  enqueueDrop,
  enqueueReconciliation,
  toDatabaseActivity,
  transitionState,
} from './reconciliation.ts'

const maxNameLength = 48
const usernameSuffixLength = 10

/** A name of at least `minLength` characters; on the host it gets the server's id as a prefix. */
export const databaseNameField = (minLength = 1) =>
  z
    .string()
    .regex(/^[\w-]+$/, 'alpha_dash')
    .min(minLength, 'min')
    .max(maxNameLength, 'max')

/** `remote` is the address pattern from which the user may connect. Spec: docs/databases.md#names. */
export const DatabaseInput = () =>
  z.object({
    database: databaseNameField(),
    remote: z.string().regex(/^[\d.%]{1,15}$/, 'regex'),
    host: rowId(),
  })
type DatabaseInput = z.output<ReturnType<typeof DatabaseInput>>

/** Constraint that a second database of a server with the same name violates → field. */
const uniqueConstraints = { _database_unique: 'database' }

/**
 * Creates a database and its user on a host. Records `server:database.create`.
 *
 * Refuses with 404 an unknown server; with 422 an unknown host or a name that the server already has; with 400
 * at the server's limit, on a full host, or when the host has a foreign database of that name; with 502 or 504
 * when the host fails. Nothing is left then; where the answer was lost, a job drops what was created.
 * Spec: docs/databases.md#lifecycle.
 */
export async function createDatabase(
  panel: Panel,
  serverId: number,
  input: DatabaseInput,
): Promise<DatabaseWithPassword> {
  const password = generatePassword()
  const { row, host } = await rejectDuplicates(uniqueConstraints, () =>
    inTransaction(panel, (tx) => storeDatabase(tx, serverId, input, password)),
  )
  try {
    await mysqlHostFor(panel, host).createDatabase({ ...row, password })
  } catch (error) {
    await undoCreation(panel, row, host, error)
    throw toHostApiError(error)
  }
  const ready = await finishCreation(panel, row)
  // The reconciliation job has taken it for abandoned.
  if (!ready) throw databaseHostFailure(504, 'database_host_slow', 'The database host is too slow.')
  return { ...ready, plainPassword: password }
}

/**
 * Stores the row of a database to be created, and enqueues a job that cleans up if the request dies; all or
 * nothing.
 */
async function storeDatabase(
  tx: Tx,
  serverId: number,
  input: DatabaseInput,
  password: string,
): Promise<{ row: DatabaseRow; host: DatabaseHost }> {
  const database = `s${serverId}_${input.database}`.slice(0, maxNameLength)
  const host = await lockHostWithRoom(tx, serverId, input.host, database)
  const username = `u${serverId}_${randomText(usernameSuffixLength)}`
  const key = { databaseHostId: host.id, username }
  const row = single(
    await tx.db
      .insert(databases)
      .values({
        ...key,
        serverId,
        database,
        remote: input.remote,
        password: await encrypt(tx, password, databasePasswordLocation(key)),
      })
      .returning(),
  )
  await enqueueReconciliation(tx, row)
  return { row, host }
}

/** Locks server and host against further databases until the transaction ends, and checks name and limits. */
async function lockHostWithRoom(
  tx: Tx,
  serverId: number,
  hostId: number,
  database: string,
): Promise<DatabaseHost> {
  const [server] = await tx.db
    .select({ limit: servers.databaseLimit })
    .from(servers)
    .where(eq(servers.id, serverId))
    .for('no key update')
  if (!server) throw notFound()
  const [host] = await tx.db
    .select()
    .from(databaseHosts)
    .where(eq(databaseHosts.id, hostId))
    .for('no key update')
  if (!host) throw invalidField('host', 'exists', 'The database host does not exist.')
  const ofServer = sql`${databases.serverId} = ${serverId}`
  const counts = single(
    await tx.db
      .select({
        // One being deleted counts for its host alone, not for the server.
        used: sql<number>`count(*) filter (where ${ofServer} and ${databases.state} <> 'deleting')::int`,
        named: sql<number>`count(*) filter (where ${ofServer} and ${databases.database} = ${database})::int`,
        onHost: sql<number>`count(*) filter (where ${databases.databaseHostId} = ${hostId})::int`,
      })
      .from(databases)
      .where(or(eq(databases.serverId, serverId), eq(databases.databaseHostId, hostId))),
  )
  if (counts.named > 0) throw invalidField('database', 'unique', 'The database has already been taken.')
  if (server.limit !== null && counts.used >= server.limit) {
    throw displayError('database_limit_reached', 'This server has reached its database limit.', {
      code: 'TooManyDatabasesException',
    })
  }
  if (host.maxDatabases !== null && counts.onHost >= host.maxDatabases) {
    throw displayError('database_host_full', 'This database host is full.', {
      code: 'NoSuitableDatabaseHostException',
    })
  }
  return host
}

/**
 * Makes the database ready. Returns null when a job has deleted the row meanwhile, and enqueues a job that
 * drops the database.
 */
async function finishCreation(panel: Panel, created: DatabaseRow): Promise<DatabaseRow | null> {
  return inTransaction(panel, async (tx) => {
    const [row] = await tx.db
      .update(databases)
      .set({ state: 'ready' })
      .where(and(eq(databases.id, created.id), eq(databases.state, 'creating')))
      .returning()
    if (!row) {
      await enqueueDrop(tx, created)
      return null
    }
    await cancelReconciliation(tx, row)
    await recordEvent(tx, 'server:database.create', toDatabaseActivity(row))
    return row
  })
}

/**
 * Undoes a failed creation. Deletes the row when nothing is left on the host; otherwise marks it as being
 * deleted, for its job.
 */
async function undoCreation(
  panel: Panel,
  row: DatabaseRow,
  host: DatabaseHost,
  error: unknown,
): Promise<void> {
  if (isHostUnchanged(error)) {
    await inTransaction(panel, async (tx) => {
      await tx.db.delete(databases).where(and(eq(databases.id, row.id), eq(databases.state, 'creating')))
      await deleteReconciliation(tx, row)
    })
    return
  }
  if (isRefusedByHost(error)) {
    // The job retries what fails here; the caller gets the reason why the creation failed.
    await dropDatabase(panel, row, host).catch(() => undefined)
  } else {
    await transitionState(panel, row, 'creating', 'deleting')
  }
}
