import { and, eq } from 'drizzle-orm'
import { databaseHosts, databases } from '../../db/schema.ts'
import type { DatabaseHost } from '../../db/tables/database-hosts.ts'
import type { DatabaseRow } from '../../db/tables/databases.ts'
import { conflict, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { cancelJob, enqueueJob, type JobPayloads } from '../jobs/enqueue.ts'
import { decrypt, encrypt, randomText, type SecretLocation } from '../secrets.ts'
import { isHostUnchanged, toHostApiError } from './host-errors.ts'
import { mysqlHostFor } from './hosts.ts'
import { reconciliationDelaySeconds, toDatabaseActivity } from './reconciliation.ts'

const passwordLength = 24
/** Special characters that need no escaping in shells, URLs and configuration files of games. */
const specialCharacters = '!@=.+^'
/** How often a password is applied again because another request stored a newer one. */
const maxAttempts = 5

/** A database with its password in plain text. */
export type DatabaseWithPassword = DatabaseRow & { plainPassword: string }

/** Returns the location for which the password of a database is encrypted. */
export const databasePasswordLocation = (
  row: Pick<DatabaseRow, 'databaseHostId' | 'username'>,
): SecretLocation => ({
  table: 'databases',
  column: 'password',
  row: `${row.databaseHostId}/${row.username}`,
})

/** Decrypts the password of a database. */
export const withPlainPassword = async <Row extends DatabaseRow>(
  panel: Pick<Panel, 'keys'>,
  row: Row,
): Promise<Row & { plainPassword: string }> => ({
  ...row,
  plainPassword: await decrypt(panel, row.password, databasePasswordLocation(row)),
})

/**
 * Generates 24 random characters with lower case, upper case, digits and three special characters, as password
 * policies require.
 */
export function generatePassword(): string {
  const randomBytes = crypto.getRandomValues(new Uint8Array(6))
  const letters = randomText(passwordLength).split('')
  const sectionLength = passwordLength / 3
  for (let at = 0; at < 3; at += 1) {
    letters[at * sectionLength + ((randomBytes[at] ?? 0) % sectionLength)] =
      specialCharacters[(randomBytes[at + 3] ?? 0) % specialCharacters.length] ?? '.'
  }
  const password = letters.join('')
  return [/[a-z]/, /[A-Z]/, /\d/].every((kind) => kind.test(password)) ? password : generatePassword()
}

/**
 * Rotates the password of a database and returns the new one; the old one stops working. Records
 * `server:database.rotate-password`.
 *
 * Refuses with 404 a database of another server; with 409 when other requests keep changing the password; with
 * 502 or 504 when the host fails: then the old password is valid, or the new one after a job where the answer
 * was lost. The new one is stored first, with a job that applies the stored password: after a crash host and
 * panel agree within a minute of the host's return. Spec: docs/databases.md#lifecycle.
 */
export async function rotateDatabasePassword(
  panel: Panel,
  serverId: number,
  id: number,
): Promise<DatabaseWithPassword> {
  // Each rotation has its own job, which only its success cancels.
  const key = `database-password:${id}:${randomText(8)}`
  const { before, after } = await inTransaction(panel, (tx) => storeNewPassword(tx, serverId, id, key))
  const isApplied = await applyStoredPassword(panel, id).catch(async (error: unknown) => {
    if (isHostUnchanged(error)) await restorePassword(panel, before, after)
    throw toHostApiError(error)
  })
  if (!isApplied) {
    await enqueueJob(panel, 'apply-database-password', { databaseId: id })
    throw conflict(
      'database_password_changing',
      'Other requests are changing the password of this database. Try again.',
    )
  }
  const row = await inTransaction(panel, async (tx) => {
    await cancelJob(tx, key)
    await recordEvent(tx, 'server:database.rotate-password', toDatabaseActivity(after))
    const [row] = await tx.db.select().from(databases).where(eq(databases.id, id))
    if (!row) throw notFound()
    return row
  })
  return withPlainPassword(panel, row)
}

/**
 * Runs `apply-database-password`: sets the stored password on the host. Does nothing unless the database is
 * ready.
 */
export async function applyDatabasePassword(
  panel: Panel,
  { databaseId }: JobPayloads['apply-database-password'],
): Promise<void> {
  const isApplied = await applyStoredPassword(panel, databaseId)
  if (!isApplied) throw new Error('The password of the database kept changing.')
}

async function storeNewPassword(tx: Tx, serverId: number, id: number, key: string) {
  const [before] = await tx.db
    .select()
    .from(databases)
    .where(and(eq(databases.id, id), eq(databases.serverId, serverId), eq(databases.state, 'ready')))
    .for('update')
  if (!before) throw notFound()
  const password = await encrypt(tx, generatePassword(), databasePasswordLocation(before))
  await replaceStoredPassword(tx, before, password)
  await enqueueJob(
    tx,
    'apply-database-password',
    { databaseId: id },
    { key, runAt: new Date(tx.now().getTime() + reconciliationDelaySeconds * 1000) },
  )
  return { before, after: { ...before, password } }
}

/**
 * Sets the stored password on the host until it is still the stored one afterwards: of concurrent calls the
 * last one wins. Returns false when another one was stored during each attempt.
 */
async function applyStoredPassword(panel: Panel, id: number): Promise<boolean> {
  let stored = await findReadyDatabase(panel, id)
  for (let attempts = 0; stored && attempts < maxAttempts; attempts += 1) {
    const { row, host } = stored
    await mysqlHostFor(panel, host).setPassword(row, (await withPlainPassword(panel, row)).plainPassword)
    stored = await findReadyDatabase(panel, id)
    if (stored?.row.password === row.password) return true
  }
  return !stored
}

async function findReadyDatabase(
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

/**
 * Restores the stored password. The job is kept: when another request has changed the password meanwhile, it
 * brings the host to that one.
 */
async function restorePassword(panel: Panel, before: DatabaseRow, after: DatabaseRow): Promise<void> {
  await replaceStoredPassword(panel, after, before.password)
}

const replaceStoredPassword = (tx: Tx, row: DatabaseRow, password: string) =>
  tx.db
    .update(databases)
    .set({ password, updatedAt: tx.now() })
    .where(and(eq(databases.id, row.id), eq(databases.password, row.password)))
