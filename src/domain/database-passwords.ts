import { and, eq } from 'drizzle-orm'
import { databaseHosts, databases } from '../db/schema.ts'
import type { DatabaseHost } from '../db/tables/database-hosts.ts'
import type { DatabaseRow } from '../db/tables/databases.ts'
import { conflict, notFound } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { record } from './activity.ts'
import { mysqlHostOf } from './database-hosts.ts'
import { occurrenceOf, reconciliationGrace } from './database-reconciliation.ts'
import { cancelJob, enqueue, type JobPayloads } from './jobs.ts'
import { leftHostAlone, refuseHostFailure } from './mysql-errors.ts'
import { open, randomText, seal, type SecretPlace } from './secrets.ts'

const passwordLength = 24
/** Characters beyond letters and digits which no shell, URL or configuration file of a game stumbles over. */
const specials = '!@=.+^'
/** How often a password is applied again because another one was stored meanwhile. */
const mostTries = 5

/** A database with the password of its user in the open. */
export type OpenedDatabase = DatabaseRow & { plainPassword: string }

/** Where the password of a database's user is sealed for. */
export const passwordPlace = (row: Pick<DatabaseRow, 'databaseHostId' | 'username'>): SecretPlace => ({
  table: 'databases',
  column: 'password',
  row: `${row.databaseHostId}/${row.username}`,
})

/** The row with its password opened. */
export const withPassword = async <Row extends DatabaseRow>(
  panel: Pick<Panel, 'keys'>,
  row: Row,
): Promise<Row & { plainPassword: string }> => ({
  ...row,
  plainPassword: await open(panel, row.password, passwordPlace(row)),
})

/** 24 random characters with lower and upper case, digits and three others: what password policies ask for. */
export function newPassword(): string {
  const draw = crypto.getRandomValues(new Uint8Array(6))
  const letters = randomText(passwordLength).split('')
  const third = passwordLength / 3
  for (let at = 0; at < 3; at += 1) {
    letters[at * third + ((draw[at] ?? 0) % third)] = specials[(draw[at + 3] ?? 0) % specials.length] ?? '.'
  }
  const password = letters.join('')
  return [/[a-z]/, /[A-Z]/, /\d/].every((kind) => kind.test(password)) ? password : newPassword()
}

/**
 * Gives the user of a database a new password, which it returns; the old one opens nothing any more.
 * Records `server:database.rotate-password`.
 *
 * Refuses with 404 one of another server, with 409 when others change it all the time, with 502 or 504 when
 * the host says no or nothing: then the old password is valid, or where the answer got lost the new one,
 * once a job has told the host. The new one is stored first, with a job that applies what is stored: after
 * a crash both sides agree within a minute of the host's return. Spec: Application API, databases.
 */
export async function rotateDatabasePassword(
  panel: Panel,
  serverId: number,
  id: number,
): Promise<OpenedDatabase> {
  // Each rotation has a job of its own, which only its own success calls off.
  const key = `database-password:${id}:${randomText(8)}`
  const { before, after } = await inTransaction(panel, (panel) => storeNew(panel, serverId, id, key))
  const isApplied = await applyStored(panel, id).catch(async (error: unknown) => {
    if (leftHostAlone(error)) await putBack(panel, before, after)
    return refuseHostFailure(error)
  })
  if (!isApplied) {
    await enqueue(panel, 'apply-database-password', { databaseId: id })
    throw conflict('Others are changing the password of this database right now. Try again.')
  }
  const row = await inTransaction(panel, async (panel) => {
    await cancelJob(panel, key)
    await record(panel, 'server:database.rotate-password', occurrenceOf(after))
    const [row] = await panel.db.select().from(databases).where(eq(databases.id, id))
    if (!row) throw notFound()
    return row
  })
  return withPassword(panel, row)
}

/** The host and the panel agree on the password of a database; one that cannot be used needs nothing. */
export async function applyDatabasePassword(
  panel: Panel,
  { databaseId }: JobPayloads['apply-database-password'],
): Promise<void> {
  const isApplied = await applyStored(panel, databaseId)
  if (!isApplied) throw new Error('The password of a database changes all the time.')
}

async function storeNew(panel: Panel, serverId: number, id: number, key: string) {
  const [before] = await panel.db
    .select()
    .from(databases)
    .where(and(eq(databases.id, id), eq(databases.serverId, serverId), eq(databases.state, 'ready')))
    .for('update')
  if (!before) throw notFound()
  const password = await seal(panel, newPassword(), passwordPlace(before))
  await setStored(panel, before, password)
  await enqueue(
    panel,
    'apply-database-password',
    { databaseId: id },
    { key, runAt: new Date(panel.now().getTime() + reconciliationGrace * 1000) },
  )
  return { before, after: { ...before, password } }
}

/**
 * Of several that set one at a time, the one who comes last sees what is stored in the end. False when
 * another one was stored during each try.
 */
async function applyStored(panel: Panel, id: number): Promise<boolean> {
  let stored = await findUsable(panel, id)
  for (let tries = 0; stored && tries < mostTries; tries += 1) {
    const { row, host } = stored
    await mysqlHostOf(panel, host).setPassword(row, (await withPassword(panel, row)).plainPassword)
    stored = await findUsable(panel, id)
    if (stored?.row.password === row.password) return true
  }
  return !stored
}

async function findUsable(
  panel: Panel,
  id: number,
): Promise<{ row: DatabaseRow; host: DatabaseHost } | undefined> {
  const [found] = await panel.db
    .select({ row: databases, host: databaseHosts })
    .from(databases)
    .innerJoin(databaseHosts, eq(databaseHosts.id, databases.databaseHostId))
    .where(and(eq(databases.id, id), eq(databases.state, 'ready')))
  return found
}

/** The job stays: should somebody else have changed the password meanwhile, it sees to it that the host follows. */
async function putBack(panel: Panel, before: DatabaseRow, after: DatabaseRow): Promise<void> {
  await setStored(panel, after, before.password)
}

const setStored = (panel: Panel, row: DatabaseRow, password: string) =>
  panel.db
    .update(databases)
    .set({ password, updatedAt: panel.now() })
    .where(and(eq(databases.id, row.id), eq(databases.password, row.password)))
