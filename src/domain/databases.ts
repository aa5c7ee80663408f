import { and, eq, or, sql } from 'drizzle-orm'
import * as z from 'zod'
import { only } from '../db/database.ts'
import { embedMany } from '../db/embed.ts'
import { fieldsOf, findRow } from '../db/relations.ts'
import { databaseHosts, databases, servers } from '../db/schema.ts'
import type { DatabaseHost } from '../db/tables/database-hosts.ts'
import type { DatabaseRow } from '../db/tables/databases.ts'
import { databaseHostFailure, displayError, notFound } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { record } from './activity.ts'
import { mysqlHostOf } from './database-hosts.ts'
import { newPassword, type OpenedDatabase, passwordPlace, withPassword } from './database-passwords.ts'
import {
  cancelReconciliation,
  dropDatabase,
  enqueueDrop,
  enqueueReconciliation,
  forgetReconciliation,
  occurrenceOf,
  setState,
} from './database-reconciliation.ts'
import { rowId } from './fields.ts'
import { leftHostAlone, refuseHostFailure, saidNo } from './mysql-errors.ts'
import { randomText, seal } from './secrets.ts'
import { invalidField, refusingDuplicates } from './validation.ts'

const longestName = 48
const usernameSuffix = 10

/** What people call a database, of at least so many characters; its name on the host says whose it is besides. */
export const databaseName = (shortest = 1) =>
  z
    .string()
    .regex(/^[\w-]+$/, 'alpha_dash')
    .min(shortest, 'min')
    .max(longestName, 'max')

/** `remote` is the address pattern from which the user may connect. Spec: Resources, database. */
export const DatabaseInput = () =>
  z.object({
    database: databaseName(),
    remote: z.string().regex(/^[\d.%]{1,15}$/, 'regex'),
    host: rowId(),
  })
type DatabaseInput = z.output<ReturnType<typeof DatabaseInput>>

/** What another name of the same server on any host violates. */
const duplicates = { _database_unique: 'database' }

/**
 * The databases of a server that can be used, in the order of their ids; with their passwords when
 * `password` is included. Refuses with 404 an unknown server. Spec: Application API, databases.
 */
export async function listDatabases(
  panel: Panel,
  serverId: number,
  include: string[] = [],
): Promise<(DatabaseRow | OpenedDatabase)[]> {
  const rows = embedMany(databases, {
    where: (row) => and(eq(row.serverId, serverId), eq(row.state, 'ready')),
    with: (row) => fieldsOf('database', row, include),
  })
  const [found] = await panel.db.select({ rows }).from(servers).where(eq(servers.id, serverId))
  if (!found) throw notFound()
  return include.includes('password')
    ? Promise.all(found.rows.map((row) => withPassword(panel, row)))
    : found.rows
}

/** The same for one of them. Refuses with 404 one of another server, or one that cannot be used. */
export async function findDatabase(
  panel: Panel,
  serverId: number,
  id: number,
  include: string[] = [],
): Promise<DatabaseRow | OpenedDatabase> {
  const where = and(eq(databases.id, id), eq(databases.serverId, serverId), eq(databases.state, 'ready'))
  const row = await findRow(panel.db, 'database', databases, where, include)
  if (!row) throw notFound()
  return include.includes('password') ? withPassword(panel, row) : row
}

/**
 * Makes a database and its user on a host; records `server:database.create`.
 *
 * Refuses with 404 an unknown server, with 422 an unknown host or a name that the server has already, with
 * 400 at the server's limit, on a full host, or when somebody else's database there has the name, with
 * 502 or 504 when the host says no or nothing: then nothing is left but, where the answer got lost, a job
 * that drops whatever came to be. Spec: Application API, databases.
 */
export async function createDatabase(
  panel: Panel,
  serverId: number,
  input: DatabaseInput,
): Promise<OpenedDatabase> {
  const password = newPassword()
  const { row, host } = await refusingDuplicates(duplicates, () =>
    inTransaction(panel, (panel) => store(panel, serverId, input, password)),
  )
  try {
    await mysqlHostOf(panel, host).createDatabase({ ...row, password })
  } catch (error) {
    await undoCreation(panel, row, host, error)
    refuseHostFailure(error)
  }
  const ready = await finishCreation(panel, row)
  // It took so long that it was given up.
  if (!ready) throw databaseHostFailure(504, 'The database host is too slow.')
  return { ...ready, plainPassword: password }
}

/**
 * Drops a database and its user, with all that is in it; records `server:database.delete`. Refuses with
 * 404 one of another server, with 502 or 504 when the host says no or nothing: then it is kept, or dropped
 * by a job where that had begun. Spec: Application API, databases.
 */
export async function removeDatabase(panel: Panel, serverId: number, id: number): Promise<void> {
  const where = and(eq(databases.id, id), eq(databases.serverId, serverId), eq(databases.state, 'ready'))
  const [found] = await panel.db
    .select({ row: databases, host: databaseHosts })
    .from(databases)
    .innerJoin(databaseHosts, eq(databaseHosts.id, databases.databaseHostId))
    .where(where)
  if (!found) throw notFound()
  await dropDatabase(panel, found.row, found.host, (panel) =>
    record(panel, 'server:database.delete', occurrenceOf(found.row)),
  )
}

/** The row of a database that will be made, and a job that clears up if nobody finishes it; all or nothing. */
async function store(
  panel: Panel,
  serverId: number,
  input: DatabaseInput,
  password: string,
): Promise<{ row: DatabaseRow; host: DatabaseHost }> {
  const database = `s${serverId}_${input.database}`.slice(0, longestName)
  const host = await lockAndCheck(panel, serverId, input.host, database)
  const username = `u${serverId}_${randomText(usernameSuffix)}`
  const key = { databaseHostId: host.id, username }
  const row = only(
    await panel.db
      .insert(databases)
      .values({
        ...key,
        serverId,
        database,
        remote: input.remote,
        password: await seal(panel, password, passwordPlace(key)),
      })
      .returning(),
  )
  await enqueueReconciliation(panel, row)
  return { row, host }
}

/** Nobody else adds a database to this server or host until the transaction ends. */
async function lockAndCheck(
  panel: Panel,
  serverId: number,
  hostId: number,
  database: string,
): Promise<DatabaseHost> {
  const [server] = await panel.db
    .select({ limit: servers.databaseLimit })
    .from(servers)
    .where(eq(servers.id, serverId))
    .for('no key update')
  if (!server) throw notFound()
  const [host] = await panel.db
    .select()
    .from(databaseHosts)
    .where(eq(databaseHosts.id, hostId))
    .for('no key update')
  if (!host) throw invalidField('host', 'exists', 'The database host does not exist.')
  const ofServer = sql`${databases.serverId} = ${serverId}`
  const counts = only(
    await panel.db
      .select({
        // One that is on its way out takes no place of the server any more, but still one of the host.
        used: sql<number>`count(*) filter (where ${ofServer} and ${databases.state} <> 'deleting')::int`,
        named: sql<number>`count(*) filter (where ${ofServer} and ${databases.database} = ${database})::int`,
        onHost: sql<number>`count(*) filter (where ${databases.databaseHostId} = ${hostId})::int`,
      })
      .from(databases)
      .where(or(eq(databases.serverId, serverId), eq(databases.databaseHostId, hostId))),
  )
  if (counts.named > 0) throw invalidField('database', 'unique', 'The database has already been taken.')
  if (server.limit !== null && counts.used >= server.limit) {
    throw displayError('This server has all the databases it may have.', 'TooManyDatabasesException')
  }
  if (host.maxDatabases !== null && counts.onHost >= host.maxDatabases) {
    throw displayError('This database host is full.', 'NoSuitableDatabaseHostException')
  }
  return host
}

/** The database can be used. Null when it was given up meanwhile: then a job drops what came to be after that. */
async function finishCreation(panel: Panel, made: DatabaseRow): Promise<DatabaseRow | null> {
  return inTransaction(panel, async (panel) => {
    const [row] = await panel.db
      .update(databases)
      .set({ state: 'ready' })
      .where(and(eq(databases.id, made.id), eq(databases.state, 'creating')))
      .returning()
    if (!row) {
      await enqueueDrop(panel, made)
      return null
    }
    await cancelReconciliation(panel, row)
    await record(panel, 'server:database.create', occurrenceOf(row))
    return row
  })
}

/**
 * No row is left when it is certain that nothing is left at the host: nothing came to be, or it is dropped
 * again. Otherwise the row waits for its job as one that is being deleted.
 */
async function undoCreation(
  panel: Panel,
  row: DatabaseRow,
  host: DatabaseHost,
  error: unknown,
): Promise<void> {
  if (leftHostAlone(error)) {
    await inTransaction(panel, async (panel) => {
      await panel.db.delete(databases).where(and(eq(databases.id, row.id), eq(databases.state, 'creating')))
      await forgetReconciliation(panel, row)
    })
    return
  }
  if (saidNo(error)) {
    // What goes wrong here the job puts right; the caller hears why the creation failed.
    await dropDatabase(panel, row, host).catch(() => undefined)
  } else {
    await setState(panel, row, 'creating', 'deleting')
  }
}
