import { and, asc, eq, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { databaseHosts, nests, nodes, users } from '../db/schema.ts'
import type { DatabaseHost } from '../db/tables/database-hosts.ts'
import type { Nest } from '../db/tables/nests.ts'
import type { Node } from '../db/tables/nodes.ts'
import type { User } from '../db/tables/users.ts'
import { hasUsableEmail } from '../domain/accounts/email-policy.ts'
import { insertNest } from '../domain/eggs/nests.ts'
import type { Panel, Tx } from '../panel.ts'
import { OperationError } from './faults.ts'

const isId = (name: string) => /^[1-9]\d{0,8}$/.test(name)

const equalsIgnoringCase = (column: PgColumn, name: string): SQL =>
  sql`lower(${column}::text) = ${name.toLowerCase()}::text`

/** Matches the row with this id, or with this text in one of the columns, ignoring case. */
const matchesName = (id: PgColumn, texts: PgColumn[], name: string): SQL | undefined =>
  or(
    ...(isId(name) ? [eq(id, Number(name))] : []),
    ...texts.map((column) => equalsIgnoringCase(column, name)),
  )

/** Finds the account with this id, user name or verified e-mail address. Throws when none or several match. */
export async function findUserNamed(panel: Panel, name: string): Promise<User> {
  // An address that is only claimed must not stand for its holder.
  const byEmail = and(equalsIgnoringCase(users.email, name), hasUsableEmail(panel))
  const where = or(matchesName(users.id, [users.username], name), byEmail)
  return requireSingle('account', name, await panel.db.select().from(users).where(where).limit(2))
}

/** Finds the oldest administrator. Throws when there is none. */
export async function findFirstAdministrator(panel: Panel): Promise<User> {
  const [user] = await panel.db
    .select()
    .from(users)
    .where(eq(users.rootAdmin, true))
    .orderBy(asc(users.id))
    .limit(1)
  if (!user) throw new OperationError('There is no administrator yet: create one with user:create --admin.')
  return user
}

/** Finds the node with this id, uuid or name. Throws when none or several match. */
export async function findNodeNamed(panel: Panel, name: string): Promise<Node> {
  const where = matchesName(nodes.id, [nodes.uuid, nodes.name], name)
  return requireSingle('node', name, await panel.db.select().from(nodes).where(where).limit(2))
}

/** Finds the database host with this id or name. Throws when none or several match. */
export async function findDatabaseHostNamed(panel: Panel, name: string): Promise<DatabaseHost> {
  const where = matchesName(databaseHosts.id, [databaseHosts.name], name)
  return requireSingle(
    'database host',
    name,
    await panel.db.select().from(databaseHosts).where(where).limit(2),
  )
}

/** Finds the nest with this id or name, and creates one for a new name. Throws when no nest has the id. */
export async function findOrCreateNest(tx: Tx, name: string): Promise<Nest> {
  const where = isId(name) ? eq(nests.id, Number(name)) : equalsIgnoringCase(nests.name, name)
  const [nest] = await tx.db.select().from(nests).where(where).orderBy(asc(nests.id)).limit(1)
  if (nest) return nest
  if (isId(name)) throw new OperationError(`There is no nest ${name}.`)
  return insertNest(tx, { name, author: 'eggs@roost.example' })
}

function requireSingle<Row>(noun: string, name: string, rows: Row[]): Row {
  const [row, other] = rows
  if (!row) throw new OperationError(`There is no ${noun} ${name}.`)
  if (other) throw new OperationError(`More than one ${noun} matches ${name}: use the id.`)
  return row
}
