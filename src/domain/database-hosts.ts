import { eq } from 'drizzle-orm'
import * as z from 'zod'
import type { MysqlHost } from '../adapters/mysql-host.ts'
import { foreignKeyViolation, only } from '../db/database.ts'
import { paginate, type RowPage } from '../db/pagination.ts'
import { fieldsOf, findRow } from '../db/relations.ts'
import { databaseHosts } from '../db/schema.ts'
import type { DatabaseHost } from '../db/tables/database-hosts.ts'
import { displayError, notFound } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { boolean, integer, rowId, text } from './fields.ts'
import { allFilters, containing, type ListRequest, orderOf } from './filters.ts'
import { writtenHost } from './host-names.ts'
import { refuseHostAsGiven } from './mysql-errors.ts'
import { open, seal, type SecretPlace } from './secrets.ts'
import { invalidField } from './validation.ts'

/** Longer names are known to no server. */
const longestUsername = 80
const longestPassword = 255

/**
 * `max_databases` null is unlimited, `password` may be empty; with `skip_check` the host need not answer.
 * Reference: Application resources, database host.
 */
export const DatabaseHostInput = () =>
  z.object({
    name: text(191),
    host: writtenHost(),
    port: integer(1, 65_535, { min: 'between', max: 'between' }),
    username: text(longestUsername),
    password: text(longestPassword, 0).nullish(),
    node_id: rowId().nullish(),
    max_databases: integer(0).nullish(),
    skip_check: boolean().nullish(),
  })
/** The same fields where only some are sent; without a password the one before stays. */
export const DatabaseHostChanges = () => DatabaseHostInput().partial()
type DatabaseHostInput = z.output<ReturnType<typeof DatabaseHostInput>>
type DatabaseHostChanges = z.output<ReturnType<typeof DatabaseHostChanges>>

/** Fields that `filter` takes. */
export const databaseHostFilters = ['name', 'host']

/** One page of database hosts. Sort `id`. */
export function listDatabaseHosts(
  panel: Panel,
  request: ListRequest,
  include: string[],
): Promise<RowPage<DatabaseHost>> {
  const filters = { name: containing(databaseHosts.name), host: containing(databaseHosts.host) }
  return paginate(panel.db, {
    ...request,
    table: databaseHosts,
    fields: fieldsOf('databaseHost', databaseHosts, include),
    where: allFilters(filters, request.filters),
    orderBy: orderOf({ id: databaseHosts.id }, request.sorts),
  })
}

/** The host with its included relations. Refuses with 404 when there is none. */
export async function findDatabaseHost(
  panel: Panel,
  id: number,
  include: string[] = [],
): Promise<DatabaseHost> {
  const where = eq(databaseHosts.id, id)
  const host = await findRow(panel.db, 'databaseHost', databaseHosts, where, include)
  if (!host) throw notFound()
  return host
}

/**
 * Adds a host, after logging in there. Refuses with 400 one that does not let the panel in, unless
 * `skip_check` is true, with 422 a node that does not exist.
 */
export async function addDatabaseHost(panel: Panel, input: DatabaseHostInput): Promise<DatabaseHost> {
  const { name, host, port, username } = input
  const password = input.password ?? ''
  if (!input.skip_check)
    await logIn(panel.mysqlHost({ host, port, username, password: async () => password }))
  return refusingMissingNode(() =>
    inTransaction(panel, async (panel) => {
      const added = only(
        await panel.db
          .insert(databaseHosts)
          .values({
            name,
            host,
            port,
            username,
            // Sealed in the next statement: the place of the secret is the row's id.
            password: '',
            nodeId: input.node_id ?? null,
            maxDatabases: input.max_databases ?? null,
          })
          .returning(),
      )
      const sealed = { password: await seal(panel, password, passwordPlace(added)) }
      return only(
        await panel.db.update(databaseHosts).set(sealed).where(eq(databaseHosts.id, added.id)).returning(),
      )
    }),
  )
}

/**
 * Changes the fields that were sent; what is needed to log in is tried before. Refuses with 404, with 400
 * what does not let the panel in, unless `skip_check` is true, with 422 a node that does not exist.
 */
export async function changeDatabaseHost(
  panel: Panel,
  id: number,
  input: DatabaseHostChanges,
): Promise<DatabaseHost> {
  const before = await findDatabaseHost(panel, id)
  const place = passwordPlace(before)
  const password = input.password ?? null
  const changes = {
    name: input.name,
    host: input.host,
    port: input.port,
    username: input.username,
    password: password === null ? undefined : await seal(panel, password, place),
    nodeId: input.node_id,
    maxDatabases: input.max_databases,
  }
  const { host, port, username } = input
  const concernsLogIn = [host, port, username, password ?? undefined].some((value) => value !== undefined)
  if (concernsLogIn && !input.skip_check) {
    await logIn(
      panel.mysqlHost({
        host: host ?? before.host,
        port: port ?? before.port,
        username: username ?? before.username,
        password: async () => password ?? open(panel, before.password, place),
      }),
    )
  }
  const [changed] = await refusingMissingNode(() =>
    panel.db
      .update(databaseHosts)
      .set({ ...changes, updatedAt: panel.now() })
      .where(eq(databaseHosts.id, id))
      .returning(),
  )
  if (!changed) throw notFound()
  return changed
}

/** Removes a host, and nothing there. Refuses with 400 while databases stand on it, with 404 when there is none. */
export async function removeDatabaseHost(panel: Panel, id: number): Promise<void> {
  try {
    const removed = await panel.db
      .delete(databaseHosts)
      .where(eq(databaseHosts.id, id))
      .returning({ id: databaseHosts.id })
    if (removed.length === 0) throw notFound()
  } catch (error) {
    if (!foreignKeyViolation(error)) throw error
    throw displayError('A database host with databases cannot be removed.', 'HasActiveDatabasesException')
  }
}

/** Logs in to the host: who answers, and whether over TLS. Refuses with 404, with 400 when that does not work. */
export async function testDatabaseHost(panel: Panel, id: number): Promise<{ version: string; tls: boolean }> {
  return logIn(mysqlHostOf(panel, await findDatabaseHost(panel, id)))
}

/** The server behind a row. */
export const mysqlHostOf = (panel: Panel, row: DatabaseHost): MysqlHost =>
  panel.mysqlHost({
    host: row.host,
    port: row.port,
    username: row.username,
    password: () => open(panel, row.password, passwordPlace(row)),
  })

/** Where the password of a host is sealed for. */
export const passwordPlace = ({ id }: Pick<DatabaseHost, 'id'>): SecretPlace => ({
  table: 'database_hosts',
  column: 'password',
  row: String(id),
})

const logIn = (host: MysqlHost) => host.ping().catch(refuseHostAsGiven)

async function refusingMissingNode<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!foreignKeyViolation(error)) throw error
    throw invalidField('node_id', 'exists', 'The node does not exist.')
  }
}
