import { eq } from 'drizzle-orm'
import { afterEach, beforeEach } from 'vitest'
import { databaseHosts, databases, jobs } from '../../src/db/schema.ts'
import type { DatabaseHost } from '../../src/db/tables/database-hosts.ts'
import { makeApplicationToken, makeServer } from '../support/factories.ts'
import { startMysqlProxy } from '../support/mysql-proxy.ts'
import { asMysqlAdmin, drawServerIds, hasMysql, makeDatabaseHost, startTcpStub } from '../support/mysql.ts'
import type { Answer } from '../support/answers.ts'
import type { World } from '../support/world.ts'

/** A server, a database host, and functions that send requests about them. */
export type DatabaseFixtures = {
  /** A token of an administrator; tests may replace it. */
  token: string
  host: DatabaseHost
  server: { id: number }
  /** Closed after the test. */
  stubs: { close: () => unknown }[]
  send: (method: string, at?: string, body?: unknown) => Promise<Answer>
  /** Asks for a database of that name on the host. */
  add: (name?: string, more?: object) => Promise<Answer>
  passwordOf: (id: number) => Promise<string>
  rows: () => Promise<(typeof databases.$inferSelect)[]>
  /** Jobs that are not done. */
  waiting: () => Promise<(typeof jobs.$inferSelect)[]>
  /** Makes the host unreachable: nothing listens, or what listens does not respond. */
  unplug: (isSilent?: boolean) => Promise<void>
  /** Makes the host run statements that contain this text but lose their responses. */
  loseAnswersTo: (text: string) => Promise<void>
  /** Restores the host. */
  repair: () => Promise<unknown>
}

/** Creates the fixtures before each test of a file. Drops what a test leaves on MariaDB. */
export function useDatabaseFixtures(world: World): DatabaseFixtures {
  const fixtures = { stubs: [] } as unknown as DatabaseFixtures
  beforeEach(async () => {
    await drawServerIds(world)
    fixtures.token = await makeApplicationToken(world)
    fixtures.host = await makeDatabaseHost(world)
    fixtures.server = await makeServer(world)
  })
  afterEach(async () => {
    for (const stub of fixtures.stubs.splice(0)) await stub.close()
    for (const { username, remote, database } of hasMysql ? await fixtures.rows() : []) {
      await asMysqlAdmin(`drop database if exists \`${database}\``)
      await asMysqlAdmin(`drop user if exists '${username}'@'${remote}'`)
    }
  })
  return Object.assign(fixtures, requestsOf(world, fixtures), faultsOf(world, fixtures))
}

function requestsOf(world: World, fixtures: DatabaseFixtures) {
  const send: DatabaseFixtures['send'] = (method, at = '', body) => {
    const path = `/api/application/servers/${fixtures.server.id}/databases${at}`
    return world.request(method, path, { token: fixtures.token, ...(body === undefined ? {} : { body }) })
  }
  const add: DatabaseFixtures['add'] = (database = 'web', more = {}) =>
    send('POST', '', { database, remote: '%', host: fixtures.host.id, ...more })
  const passwordOf: DatabaseFixtures['passwordOf'] = async (id) =>
    (await send('GET', `/${id}?include=password`)).body.attributes.relationships.password.attributes.password
  return {
    send,
    add,
    passwordOf,
    rows: async () => world.database.db.select().from(databases).orderBy(databases.id),
    waiting: async () => world.database.db.select().from(jobs).where(eq(jobs.state, 'waiting')),
  }
}

function faultsOf(world: World, fixtures: DatabaseFixtures) {
  const moveHost = (host: string, port: number) =>
    world.database.db.update(databaseHosts).set({ host, port }).where(eq(databaseHosts.id, fixtures.host.id))
  return {
    unplug: async (isSilent = false) => {
      const stub = await startTcpStub()
      if (isSilent) fixtures.stubs.push(stub)
      else stub.close()
      await moveHost('127.0.0.1', stub.port)
    },
    loseAnswersTo: async (text: string) => {
      const proxy = await startMysqlProxy()
      fixtures.stubs.push(proxy)
      proxy.loseAnswersTo(text)
      await moveHost('127.0.0.1', proxy.port)
    },
    repair: async () => moveHost(fixtures.host.host, fixtures.host.port),
  }
}

/** Lists the error codes of a response. */
export const codes = (answer: Answer): string[] =>
  answer.body.errors.map((error: { code: string }) => error.code)
