import { and, asc, eq, isNull, or, sql } from 'drizzle-orm'
import * as z from 'zod'
import { only } from '../db/database.ts'
import { databaseHosts, databases } from '../db/schema.ts'
import type { DatabaseHost } from '../db/tables/database-hosts.ts'
import type { DatabaseRow } from '../db/tables/databases.ts'
import { displayError, forbidden } from '../errors.ts'
import type { Panel } from '../panel.ts'
import type { ReachedServer } from './credentials.ts'
import { rotateDatabasePassword, withPassword } from './database-passwords.ts'
import { createDatabase, databaseName } from './databases.ts'
import { setting } from './settings.ts'

/** A database with the address under which games reach it, and its password where that may be told. */
export type ClientDatabase = DatabaseRow & {
  host: Pick<DatabaseHost, 'host' | 'port'>
  plainPassword?: string
}

/** Longer addresses are known to no server. */
const longestRemote = 60

/** `remote` is the address pattern from which the user may connect. Spec: Resources, database. */
export const ClientDatabaseInput = () =>
  z.object({
    database: databaseName(3),
    remote: z
      .string()
      .max(longestRemote, 'max')
      .regex(/^[\w\-/.%:]+$/, 'regex'),
  })
type ClientDatabaseInput = z.output<ReturnType<typeof ClientDatabaseInput>>

const address = { host: databaseHosts.host, port: databaseHosts.port }

/** The databases of a server that can be used, in the order of their ids. Spec: Client API, databases. */
export async function listClientDatabases(
  panel: Panel,
  { server }: Pick<ReachedServer, 'server'>,
  { withPasswords }: { withPasswords: boolean },
): Promise<ClientDatabase[]> {
  const found = await panel.db
    .select({ row: databases, host: address })
    .from(databases)
    .innerJoin(databaseHosts, eq(databaseHosts.id, databases.databaseHostId))
    .where(and(eq(databases.serverId, server.id), eq(databases.state, 'ready')))
    .orderBy(asc(databases.id))
  const rows = found.map(({ row, host }) => ({ ...row, host }))
  return withPasswords ? Promise.all(rows.map((row) => withPassword(panel, row))) : rows
}

/**
 * Makes a database and its user on a host of the server's node, else on any; of several that have room a random
 * one. Refuses with 403 while people may not, with 400 when no host has room, and as `createDatabase` does.
 * Spec: Client API, databases.
 */
export async function createClientDatabase(
  panel: Panel,
  { server }: Pick<ReachedServer, 'server'>,
  input: ClientDatabaseInput,
): Promise<ClientDatabase> {
  if (!(await setting(panel, 'databases.client_enabled'))) {
    throw forbidden('Databases cannot be added here.', 'DatabaseClientFeatureNotEnabledException')
  }
  const { id, ...host } = await chooseHost(panel, server.nodeId)
  const made = await createDatabase(panel, server.id, { ...input, host: id })
  return { ...made, host }
}

/** Gives the user of a database a new password; refuses as `rotateDatabasePassword` does. Spec: Client API, databases. */
export async function rotateClientDatabasePassword(
  panel: Panel,
  { server }: Pick<ReachedServer, 'server'>,
  id: number,
): Promise<ClientDatabase> {
  const row = await rotateDatabasePassword(panel, server.id, id)
  const hosts = await panel.db
    .select(address)
    .from(databaseHosts)
    .where(eq(databaseHosts.id, row.databaseHostId))
  return { ...row, host: only(hosts) }
}

async function chooseHost(panel: Panel, nodeId: number): Promise<Pick<DatabaseHost, 'id' | 'host' | 'port'>> {
  const held = panel.db
    .select({ count: sql`count(*)` })
    .from(databases)
    .where(eq(databases.databaseHostId, databaseHosts.id))
  const [host] = await panel.db
    .select({ id: databaseHosts.id, ...address })
    .from(databaseHosts)
    .where(or(isNull(databaseHosts.maxDatabases), sql`${databaseHosts.maxDatabases} > (${held})`))
    .orderBy(sql`${databaseHosts.nodeId} is distinct from ${nodeId}`, sql`random()`)
    .limit(1)
  if (!host) throw displayError('No database host has room.', 'NoSuitableDatabaseHostException')
  return host
}
