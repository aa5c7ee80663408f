import { and, asc, eq, isNull, or, sql } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { databaseHosts, databases } from '../../db/schema.ts'
import type { DatabaseHost } from '../../db/tables/database-hosts.ts'
import type { DatabaseRow } from '../../db/tables/databases.ts'
import { displayError, forbidden } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import type { ServerAccess } from '../servers/access.ts'
import { getSetting } from '../settings/settings.ts'
import { createDatabase, databaseNameField } from './create.ts'
import { rotateDatabasePassword, withPlainPassword } from './passwords.ts'

/** A database with the address of its host and, where it may be shown, its password. */
export type ClientDatabase = DatabaseRow & {
  host: Pick<DatabaseHost, 'host' | 'port'>
  plainPassword?: string
}

/** Longest address that database servers accept. */
const maxRemoteLength = 60

/** `remote` is the address pattern from which the user may connect. Spec: docs/databases.md#names. */
export const ClientDatabaseInput = () =>
  z.object({
    database: databaseNameField(3),
    remote: z
      .string()
      .max(maxRemoteLength, 'max')
      .regex(/^[\w\-/.%:]+$/, 'regex'),
  })
type ClientDatabaseInput = z.output<ReturnType<typeof ClientDatabaseInput>>

const hostColumns = { host: databaseHosts.host, port: databaseHosts.port }

/** Lists the ready databases of a server by id. Spec: docs/databases.md#lifecycle. */
export async function listClientDatabases(
  panel: Panel,
  { server }: Pick<ServerAccess, 'server'>,
  { withPasswords }: { withPasswords: boolean },
): Promise<ClientDatabase[]> {
  const found = await panel.db
    .select({ row: databases, host: hostColumns })
    .from(databases)
    .innerJoin(databaseHosts, eq(databaseHosts.id, databases.databaseHostId))
    .where(and(eq(databases.serverId, server.id), eq(databases.state, 'ready')))
    .orderBy(asc(databases.id))
  const rows = found.map(({ row, host }) => ({ ...row, host }))
  return withPasswords ? Promise.all(rows.map((row) => withPlainPassword(panel, row))) : rows
}

/**
 * Creates a database and its user on a host of the server's node, else on any other; on a random one of those
 * with room. Refuses with 403 while the feature is off, with 400 when no host has room, and as `createDatabase`
 * does. Spec: docs/databases.md#lifecycle.
 */
export async function createClientDatabase(
  panel: Panel,
  { server }: Pick<ServerAccess, 'server'>,
  input: ClientDatabaseInput,
): Promise<ClientDatabase> {
  if (!(await getSetting(panel, 'databases.client_enabled'))) {
    throw forbidden('databases_disabled', 'Creating databases is disabled.', {
      code: 'DatabaseClientFeatureNotEnabledException',
    })
  }
  const { id, ...host } = await chooseHost(panel, server.nodeId)
  const created = await createDatabase(panel, server.id, { ...input, host: id })
  return { ...created, host }
}

/**
 * Rotates the password of a database; refuses as `rotateDatabasePassword` does.
 * Spec: docs/databases.md#lifecycle.
 */
export async function rotateClientDatabasePassword(
  panel: Panel,
  { server }: Pick<ServerAccess, 'server'>,
  id: number,
): Promise<ClientDatabase> {
  const row = await rotateDatabasePassword(panel, server.id, id)
  const hosts = await panel.db
    .select(hostColumns)
    .from(databaseHosts)
    .where(eq(databaseHosts.id, row.databaseHostId))
  return { ...row, host: single(hosts) }
}

async function chooseHost(panel: Panel, nodeId: number): Promise<Pick<DatabaseHost, 'id' | 'host' | 'port'>> {
  const databaseCount = panel.db
    .select({ count: sql`count(*)` })
    .from(databases)
    .where(eq(databases.databaseHostId, databaseHosts.id))
  const [host] = await panel.db
    .select({ id: databaseHosts.id, ...hostColumns })
    .from(databaseHosts)
    .where(or(isNull(databaseHosts.maxDatabases), sql`${databaseHosts.maxDatabases} > (${databaseCount})`))
    .orderBy(sql`${databaseHosts.nodeId} is distinct from ${nodeId}`, sql`random()`)
    .limit(1)
  if (!host)
    throw displayError('no_database_host', 'No database host has room.', {
      code: 'NoSuitableDatabaseHostException',
    })
  return host
}
