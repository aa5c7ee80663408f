import { eq } from 'drizzle-orm'
import { afterEach, beforeEach } from 'vitest'
import { databaseHosts, databases, jobs } from '../../src/db/schema.ts'
import type { DatabaseHost } from '../../src/db/tables/database-hosts.ts'
import { makeApplicationToken, makeServer } from '../support/factories.ts'
import { startMysqlProxy } from '../support/mysql-proxy.ts'
import { asMysqlAdmin, drawServerIds, hasMysql, makeDatabaseHost, startTcpStub } from '../support/mysql.ts'
import type { Answer } from '../support/answers.ts'
import type { World } from '../support/world.ts'

/** A server, a database host, and what is asked about them. */
export type DatabaseScene = {
  /** Of an administrator; tests may put another one in its place. */
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
  /** The host is out of reach: nothing listens, or what listens says nothing. */
  unplug: (isSilent?: boolean) => Promise<void>
  /** The host loses the answers to statements that contain this text, though it does what they say. */
  loseAnswersTo: (text: string) => Promise<void>
  /** The host is as it was. */
  repair: () => Promise<unknown>
}

/** The scene of each test of a file. Whatever a test leaves on MariaDB is dropped after it. */
export function useDatabaseScene(world: World): DatabaseScene {
  const scene = { stubs: [] } as unknown as DatabaseScene
  beforeEach(async () => {
    await drawServerIds(world)
    scene.token = await makeApplicationToken(world)
    scene.host = await makeDatabaseHost(world)
    scene.server = await makeServer(world)
  })
  afterEach(async () => {
    for (const stub of scene.stubs.splice(0)) await stub.close()
    for (const { username, remote, database } of hasMysql ? await scene.rows() : []) {
      await asMysqlAdmin(`drop database if exists \`${database}\``)
      await asMysqlAdmin(`drop user if exists '${username}'@'${remote}'`)
    }
  })
  return Object.assign(scene, questions(world, scene), faults(world, scene))
}

function questions(world: World, scene: DatabaseScene) {
  const send: DatabaseScene['send'] = (method, at = '', body) => {
    const path = `/api/application/servers/${scene.server.id}/databases${at}`
    return world.request(method, path, { token: scene.token, ...(body === undefined ? {} : { body }) })
  }
  const add: DatabaseScene['add'] = (database = 'web', more = {}) =>
    send('POST', '', { database, remote: '%', host: scene.host.id, ...more })
  const passwordOf: DatabaseScene['passwordOf'] = async (id) =>
    (await send('GET', `/${id}?include=password`)).body.attributes.relationships.password.attributes.password
  return {
    send,
    add,
    passwordOf,
    rows: async () => world.database.db.select().from(databases),
    waiting: async () => world.database.db.select().from(jobs).where(eq(jobs.state, 'waiting')),
  }
}

function faults(world: World, scene: DatabaseScene) {
  const moveHost = (host: string, port: number) =>
    world.database.db.update(databaseHosts).set({ host, port }).where(eq(databaseHosts.id, scene.host.id))
  return {
    unplug: async (isSilent = false) => {
      const stub = await startTcpStub()
      if (isSilent) scene.stubs.push(stub)
      else stub.close()
      await moveHost('127.0.0.1', stub.port)
    },
    loseAnswersTo: async (text: string) => {
      const proxy = await startMysqlProxy()
      scene.stubs.push(proxy)
      proxy.loseAnswersTo(text)
      await moveHost('127.0.0.1', proxy.port)
    },
    repair: async () => moveHost(scene.host.host, scene.host.port),
  }
}

/** Codes of the errors of a refusal. */
export const codes = (answer: Answer): string[] =>
  answer.body.errors.map((error: { code: string }) => error.code)
