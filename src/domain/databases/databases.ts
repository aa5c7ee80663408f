import { and, eq } from 'drizzle-orm'
import { unlimitedCount } from '../../db/page-ids.ts'
import { countRow } from '../../db/pagination.ts'
import { findRow, listRows } from '../../db/related-rows.ts'
import { databaseHosts, databases, servers } from '../../db/schema.ts'
import type { DatabaseRow } from '../../db/tables/databases.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { pathId } from '../fields.ts'
import { type DatabaseWithPassword, withPlainPassword } from './passwords.ts'
import { dropDatabase, toDatabaseActivity } from './reconciliation.ts'

/**
 * Lists the ready databases of a server by id, with passwords when `password` is included. Refuses with 404 an
 * unknown server. Spec: docs/databases.md#lifecycle.
 */
export async function listDatabases(
  panel: Panel,
  serverId: number,
  include: string[] = [],
): Promise<(DatabaseRow | DatabaseWithPassword)[]> {
  const found = await listRows<DatabaseRow>(panel.db, 'database', {
    include,
    where: and(eq(databases.serverId, serverId), eq(databases.state, 'ready')),
    extraCount: countRow(servers, serverId),
    page: 1,
    perPage: unlimitedCount,
  })
  if (found.extraCount === 0) throw notFound()
  return include.includes('password')
    ? Promise.all(found.rows.map((row) => withPlainPassword(panel, row)))
    : found.rows
}

/** Finds one ready database of a server. Refuses with 404 one of another server, or one that is not ready. */
export async function findDatabase(
  panel: Panel,
  serverId: number,
  id: number,
  include: string[] = [],
): Promise<DatabaseRow | DatabaseWithPassword> {
  const where = and(eq(databases.id, id), eq(databases.serverId, serverId), eq(databases.state, 'ready'))
  const row = await findRow<DatabaseRow>(panel.db, 'database', where, include)
  if (!row) throw notFound()
  return include.includes('password') ? withPlainPassword(panel, row) : row
}

/**
 * Returns the id of a database that a path names: by its number, or as the panel that it moved in from did. Refuses with
 * 404 what names no database of the server. A number costs no statement.
 */
export async function findDatabaseId(panel: Panel, serverId: number, name: string): Promise<number> {
  const number = pathId().safeParse(name)
  if (number.success) return number.data
  const [found] = await panel.db
    .select({ id: databases.id })
    .from(databases)
    .where(and(eq(databases.serverId, serverId), eq(databases.hashid, name)))
  if (!found) throw notFound()
  return found.id
}

/**
 * Drops a database with its data and its user. Records `server:database.delete`. Refuses with 404 a database of
 * another server, with 502 or 504 when the host fails: then it is kept, or dropped by a job where dropping had
 * begun. Spec: docs/databases.md#lifecycle.
 */
export async function removeDatabase(panel: Panel, serverId: number, id: number): Promise<void> {
  const where = and(eq(databases.id, id), eq(databases.serverId, serverId), eq(databases.state, 'ready'))
  const [found] = await panel.db
    .select({ row: databases, host: databaseHosts })
    .from(databases)
    .innerJoin(databaseHosts, eq(databaseHosts.id, databases.databaseHostId))
    .where(where)
  if (!found) throw notFound()
  await dropDatabase(panel, found.row, found.host, (tx) =>
    recordEvent(tx, 'server:database.delete', toDatabaseActivity(found.row)),
  )
}
