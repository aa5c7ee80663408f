import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { randomInt } from 'node:crypto'
import mysql from 'mysql2/promise'
import { sql } from 'drizzle-orm'
import { single } from '../../src/db/database.ts'
import { databaseHosts } from '../../src/db/schema.ts'
import { hostPasswordLocation } from '../../src/domain/databases/hosts.ts'
import { encrypt } from '../../src/domain/secrets.ts'
import type { World } from './world.ts'

const url = new URL(process.env.TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306')

/** The address of the real MariaDB, and its administrator. */
export const mysqlAdmin = {
  host: url.hostname,
  port: Number(url.port || 3306),
  username: decodeURIComponent(url.username),
  password: decodeURIComponent(url.password),
}

/** Whether MariaDB is available. CI must have it; elsewhere its absence is printed once per file. */
export const hasMysql = await isThere()

async function isThere(): Promise<boolean> {
  try {
    await asMysqlUser(mysqlAdmin.username, mysqlAdmin.password, 'select 1')
    return true
  } catch (error) {
    const place = `${mysqlAdmin.host}:${mysqlAdmin.port}`
    if (process.env.CI) throw new Error(`CI needs MariaDB at ${place}.`, { cause: error })
    process.stderr.write(`Skipped: the suites on MariaDB: nothing at ${place}.\n`)
    return false
  }
}

/** Runs one statement as some user; throws when it or the login is refused. */
export async function asMysqlUser(user: string, password: string, statement: string, database?: string) {
  const connection = await mysql.createConnection({
    host: mysqlAdmin.host,
    port: mysqlAdmin.port,
    user,
    password,
    ...(database === undefined ? {} : { database }),
  })
  try {
    const [rows] = await connection.query(statement)
    return rows as Record<string, unknown>[]
  } finally {
    await connection.end()
  }
}

/** Runs one statement as the administrator. */
export const asMysqlAdmin = (statement: string) =>
  asMysqlUser(mysqlAdmin.username, mysqlAdmin.password, statement)

/** Lists the databases and users of a server on MariaDB. */
export async function hostedNames(serverId: number): Promise<string[]> {
  const databases = await asMysqlAdmin(`select schema_name as name from information_schema.schemata`)
  const users = await asMysqlAdmin('select user as name from mysql.user')
  return [...databases, ...users]
    .map(({ name }) => String(name))
    .filter((name) => name.startsWith(`s${serverId}_`) || name.startsWith(`u${serverId}_`))
}

/** Draws random server ids, because several test files share one MariaDB. */
export async function drawServerIds(world: World): Promise<void> {
  const first = randomInt(1, 2_000_000_000)
  await world.database.db.execute(sql.raw(`select setval('servers_id_seq', ${first}, false)`))
}

/** Makes a database host of the panel, by default the real one. */
export async function makeDatabaseHost(
  world: World,
  values: Partial<typeof databaseHosts.$inferInsert> & { secret?: string } = {},
) {
  const { secret = mysqlAdmin.password, ...columns } = values
  const { db } = world.database
  const { id } = single(
    await db
      .insert(databaseHosts)
      .values({
        name: 'Host',
        host: mysqlAdmin.host,
        port: mysqlAdmin.port,
        username: mysqlAdmin.username,
        password: '',
        ...columns,
      })
      .returning(),
  )
  const password = await encrypt(world.panel, secret, hostPasswordLocation({ id }))
  const host = sql`${databaseHosts.id} = ${id}`
  return single(await db.update(databaseHosts).set({ password }).where(host).returning())
}

export type TcpStub = { port: number; connections: () => number; close: () => void }

/** Starts a TCP server that handles connections with `serve`; without it they stay open. */
export async function startTcpStub(serve: (socket: Socket) => void = () => undefined): Promise<TcpStub> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    serve(socket)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
