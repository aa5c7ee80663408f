import { asc, eq, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { only } from '../db/database.ts'
import { databaseHosts, nests, nodes, users } from '../db/schema.ts'
import type { DatabaseHost } from '../db/tables/database-hosts.ts'
import type { Nest } from '../db/tables/nests.ts'
import type { Node } from '../db/tables/nodes.ts'
import type { User } from '../db/tables/users.ts'
import type { Panel } from '../panel.ts'
import { VerbError } from './faults.ts'

const isId = (name: string) => /^[1-9]\d{0,8}$/.test(name)

const sameText = (column: PgColumn, name: string): SQL =>
  sql`lower(${column}::text) = ${name.toLowerCase()}::text`

/** Matches the row with this id, or with this text in one of the columns, whatever its case. */
const called = (id: PgColumn, texts: PgColumn[], name: string): SQL | undefined =>
  or(...(isId(name) ? [eq(id, Number(name))] : []), ...texts.map((column) => sameText(column, name)))

/** The account with this id, user name or e-mail address. Refuses a name that fits none, or two. */
export async function findUserNamed(panel: Panel, name: string): Promise<User> {
  const where = called(users.id, [users.username, users.email], name)
  return theOne('account', name, await panel.db.select().from(users).where(where).limit(2))
}

/** The administrator who has been there longest. Refuses when there is none. */
export async function findFirstAdministrator(panel: Panel): Promise<User> {
  const [user] = await panel.db
    .select()
    .from(users)
    .where(eq(users.rootAdmin, true))
    .orderBy(asc(users.id))
    .limit(1)
  if (!user) throw new VerbError('There is no administrator yet: make one with user:create --admin.')
  return user
}

/** The node with this id, uuid or name. Refuses a name that fits none, or two. */
export async function findNodeNamed(panel: Panel, name: string): Promise<Node> {
  const where = called(nodes.id, [nodes.uuid, nodes.name], name)
  return theOne('node', name, await panel.db.select().from(nodes).where(where).limit(2))
}

/** The database host with this id or name. Refuses a name that fits none, or two. */
export async function findDatabaseHostNamed(panel: Panel, name: string): Promise<DatabaseHost> {
  const where = called(databaseHosts.id, [databaseHosts.name], name)
  return theOne('database host', name, await panel.db.select().from(databaseHosts).where(where).limit(2))
}

/** The nest with this id or name; a name that no nest has makes one. Refuses an id that no nest has. */
export async function nestNamed(panel: Panel, name: string): Promise<Nest> {
  const where = isId(name) ? eq(nests.id, Number(name)) : sameText(nests.name, name)
  const [nest] = await panel.db.select().from(nests).where(where).orderBy(asc(nests.id)).limit(1)
  if (nest) return nest
  if (isId(name)) throw new VerbError(`There is no nest ${name}.`)
  return only(await panel.db.insert(nests).values({ name, author: 'eggs@roost.example' }).returning())
}

function theOne<Row>(noun: string, name: string, rows: Row[]): Row {
  const [row, other] = rows
  if (!row) throw new VerbError(`There is no ${noun} ${name}.`)
  if (other) throw new VerbError(`More than one ${noun} answers to ${name}: use another name of it.`)
  return row
}
