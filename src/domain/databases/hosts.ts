import { and, eq } from 'drizzle-orm'
import * as z from 'zod'
import type { MysqlHost } from '../../adapters/mysql-host.ts'
import { isForeignKeyViolation, single } from '../../db/database.ts'
import type { RowPage } from '../../db/pagination.ts'
import { findRow, listRows } from '../../db/related-rows.ts'
import { databaseHosts } from '../../db/schema.ts'
import type { DatabaseHost } from '../../db/tables/database-hosts.ts'
import { conflict, displayError, notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { recordAdminEvent, recordAdminUpdate } from '../activity/record.ts'
import { boolean, integer, rowId, text, untrimmed } from '../fields.ts'
import { combineFilters, containsFilter, type ListRequest, orderByColumns, shapeName } from '../filters.ts'
import { hostField } from '../host-names.ts'
import { decrypt, encrypt, type SecretLocation } from '../secrets.ts'
import { invalidField } from '../validation.ts'
import { toGivenHostApiError } from './host-errors.ts'
import { requireExpectedVersion, versionOf } from '../versions.ts'

/** Longest user name that database servers accept. */
const maxUsernameLength = 80
const maxPasswordLength = 255

/**
 * `max_databases` null is unlimited, `password` may be empty; `skip_check` skips the login.
 * Spec: postApplicationDatabaseHosts.
 */
export const DatabaseHostInput = () =>
  z.object({
    name: text(191),
    host: hostField(),
    port: integer(1, 65_535, { min: 'between', max: 'between' }),
    username: text(maxUsernameLength),
    password: untrimmed(text(maxPasswordLength, 0)).nullish(),
    node_id: rowId().nullish(),
    max_databases: integer(0).nullish(),
    skip_check: boolean().nullish(),
  })
/** The fields of `DatabaseHostInput`, all optional; the password is kept when neither it nor the address is sent. */
export const DatabaseHostChanges = () => DatabaseHostInput().partial()
type DatabaseHostInput = z.output<ReturnType<typeof DatabaseHostInput>>
type DatabaseHostChanges = z.output<ReturnType<typeof DatabaseHostChanges>>

/** Fields that `filter` takes. */
export const databaseHostFilters = ['name', 'host']

/** Lists one page of database hosts. Filters `name`, `host`; sort `id`. */
export function listDatabaseHosts(
  panel: Panel,
  request: ListRequest,
  include: string[],
): Promise<RowPage<DatabaseHost>> {
  const filters = { name: containsFilter(databaseHosts.name), host: containsFilter(databaseHosts.host) }
  return listRows(panel.db, 'databaseHost', {
    ...request,
    name: shapeName(request),
    include,
    search: combineFilters(filters, request.filters),
    orderBy: orderByColumns({ id: databaseHosts.id }, request.sorts),
  })
}

/** Finds a host with its included relations. Refuses with 404. */
export async function findDatabaseHost(
  panel: Panel,
  id: number,
  include: string[] = [],
): Promise<DatabaseHost> {
  const where = eq(databaseHosts.id, id)
  const host = await findRow<DatabaseHost>(panel.db, 'databaseHost', where, include)
  if (!host) throw notFound()
  return host
}

/**
 * Creates a host after logging in to it. Refuses with 400 when the login fails, unless `skip_check` is true,
 * with 422 an unknown node. Records `admin:database-host.create`.
 */
export async function addDatabaseHost(panel: Panel, input: DatabaseHostInput): Promise<DatabaseHost> {
  const { name, host, port, username } = input
  const password = input.password ?? ''
  if (!input.skip_check)
    await testConnection(panel.mysqlHost({ host, port, username, password: async () => password }))
  return rejectMissingNode(() =>
    inTransaction(panel, async (tx) => {
      const added = single(
        await tx.db
          .insert(databaseHosts)
          .values({
            name,
            host,
            port,
            username,
            // Encrypted in the next statement: the location of the secret is the id of the row.
            password: '',
            nodeId: input.node_id ?? null,
            maxDatabases: input.max_databases ?? null,
          })
          .returning(),
      )
      const encrypted = { password: await encrypt(tx, password, hostPasswordLocation(added)) }
      await recordAdminEvent(tx, 'admin:database-host.create', toSubject(added), { name })
      return single(
        await tx.db.update(databaseHosts).set(encrypted).where(eq(databaseHosts.id, added.id)).returning(),
      )
    }),
  )
}

/**
 * Changes the fields that were sent, after logging in when address or credential are sent. Refuses with 404, with
 * 400 when the login fails, unless `skip_check` is true; with 422 another host, port or user without the
 * password, which would otherwise be sent to an address for which it was not entered, and an unknown node; with
 * 409 when the address is changed at the same time. Records `admin:database-host.update`.
 */
export async function changeDatabaseHost(
  panel: Panel,
  id: number,
  input: DatabaseHostChanges,
): Promise<DatabaseHost> {
  const before = await findDatabaseHost(panel, id)
  requirePasswordForAddress(before, input)
  const location = hostPasswordLocation(before)
  const password = input.password ?? null
  const changes = {
    name: input.name,
    host: input.host,
    port: input.port,
    username: input.username,
    password: password === null ? undefined : await encrypt(panel, password, location),
    nodeId: input.node_id,
    maxDatabases: input.max_databases,
  }
  const { host, port, username } = input
  const changesConnection = [host, port, username, password ?? undefined].some((value) => value !== undefined)
  if (changesConnection && !input.skip_check) {
    await testConnection(
      panel.mysqlHost({
        host: host ?? before.host,
        port: port ?? before.port,
        username: username ?? before.username,
        password: async () => password ?? decrypt(panel, before.password, location),
      }),
    )
  }
  const changed = await rejectMissingNode(() => storeHostChanges(panel, before, changes))
  if (changed) return changed
  await findDatabaseHost(panel, id)
  throw conflict('database_host_changed', 'The database host was changed at the same time. Try again.')
}

type HostChanges = Partial<typeof databaseHosts.$inferInsert>

/** Stores the changes; null when the host is gone or its address is not that of `before` any more. */
const storeHostChanges = (panel: Panel, before: DatabaseHost, changes: HostChanges) =>
  inTransaction(panel, async (tx) => {
    const [locked] = await tx.db
      .select()
      .from(databaseHosts)
      .where(eq(databaseHosts.id, before.id))
      .for('update')
    if (locked) requireExpectedVersion(tx, versionOf(locked))
    const [after] = await tx.db
      .update(databaseHosts)
      .set({ ...changes, updatedAt: tx.now() })
      .where(and(eq(databaseHosts.id, before.id), hasAddressOf(before)))
      .returning()
    if (!after) return null
    const versions = { name: after.name, before, after }
    await recordAdminUpdate(tx, 'admin:database-host.update', toSubject(after), versions)
    return after
  })

const addressFields = ['host', 'port', 'username'] as const

function requirePasswordForAddress(before: DatabaseHost, input: DatabaseHostChanges): void {
  const changesAddress = addressFields.some(
    (name) => input[name] !== undefined && input[name] !== before[name],
  )
  if (changesAddress && typeof input.password !== 'string')
    throw invalidField('password', 'required', 'Another host, port or user needs the password.', {
      reason: 'database_host_password_required',
    })
}

/** Matches a row whose address has not changed since it was read: the password was checked for that address. */
const hasAddressOf = (before: DatabaseHost) =>
  and(...addressFields.map((name) => eq(databaseHosts[name], before[name])))

/**
 * Deletes a host from the panel; the host itself is not changed. Refuses with 404, with 400 while it has
 * databases. Records `admin:database-host.delete`.
 */
export async function removeDatabaseHost(panel: Panel, id: number): Promise<void> {
  try {
    await inTransaction(panel, async (tx) => {
      const [removed] = await tx.db.delete(databaseHosts).where(eq(databaseHosts.id, id)).returning()
      if (!removed) throw notFound()
      await recordAdminEvent(tx, 'admin:database-host.delete', toSubject(removed), { name: removed.name })
    })
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw displayError('database_host_in_use', 'A database host with databases cannot be removed.', {
      code: 'HasActiveDatabasesException',
    })
  }
}

/**
 * Logs in to the host and returns its version and whether the connection uses TLS. Refuses with 404, with 400
 * when the login fails. Records `admin:database-host.test`.
 */
export async function testDatabaseHost(panel: Panel, id: number): Promise<{ version: string; tls: boolean }> {
  const host = await findDatabaseHost(panel, id)
  const report = await testConnection(mysqlHostFor(panel, host))
  await recordAdminEvent(panel, 'admin:database-host.test', toSubject(host), { name: host.name })
  return report
}

/** Returns the client of the host of this row. */
export const mysqlHostFor = (panel: Panel, row: DatabaseHost): MysqlHost =>
  panel.mysqlHost({
    host: row.host,
    port: row.port,
    username: row.username,
    password: () => decrypt(panel, row.password, hostPasswordLocation(row)),
  })

/** Returns the location for which the password of a host is encrypted. */
export const hostPasswordLocation = ({ id }: Pick<DatabaseHost, 'id'>): SecretLocation => ({
  table: 'database_hosts',
  column: 'password',
  row: String(id),
})

const toSubject = ({ id }: DatabaseHost) => ({ type: 'database_host' as const, id })

const testConnection = (host: MysqlHost) =>
  host.ping().catch((error: unknown) => {
    throw toGivenHostApiError(error)
  })

async function rejectMissingNode<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw invalidField('node_id', 'exists', 'The node does not exist.')
  }
}
