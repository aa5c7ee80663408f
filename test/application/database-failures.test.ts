import { beforeEach, describe, expect, it } from 'vitest'
import { databases, jobs } from '../../src/db/schema.ts'
import { makeNode, makeServer } from '../support/factories.ts'
import { asMysqlAdmin, asMysqlUser, hasMysql, hostedNames, makeDatabaseHost } from '../support/mysql.ts'
import { type StubDaemon, startStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import { codes, useDatabaseFixtures } from './database-fixtures.ts'

const world = useWorld()
const fixtures = useDatabaseFixtures(world)
const { send, add, passwordOf, rows, waiting, unplug, loseAnswersTo, repair } = fixtures

describe('a database host that is away', () => {
  it('gets no database, and takes no place for it', async () => {
    await unplug()
    const refused = await add()
    expect([refused.status, ...codes(refused)]).toEqual([504, 'DatabaseHostException'])
    expect([await rows(), await waiting(), await world.events()]).toEqual([[], [], []])
  })

  it('that sends nothing times out, and leaves nothing behind', async () => {
    await unplug(true)
    expect((await add()).status).toBe(504)
    expect([await rows(), await waiting()]).toEqual([[], []])
  })
})

describe.skipIf(!hasMysql)('a database host that fails on the way', () => {
  it('keeps what it has when it is away during a deletion or a new password', async () => {
    const { id, username } = (await add()).body.attributes
    const password = await passwordOf(id)
    await unplug()
    expect((await send('DELETE', `/${id}`)).status).toBe(504)
    expect((await send('POST', `/${id}/reset-password`)).status).toBe(504)
    expect(await passwordOf(id)).toBe(password)
    await repair()
    world.clock.advance(120)
    await world.runJobs()
    expect(await waiting()).toEqual([])
    await asMysqlUser(username, password, 'select 1')
    expect((await send('DELETE', `/${id}`)).status).toBe(204)
    expect(await hostedNames(fixtures.server.id)).toEqual([])
  })

  it('keeps nothing of a database that it refused half way', async () => {
    const admin = `u${fixtures.server.id}_half`
    await asMysqlAdmin(`create user ${admin}@'%' identified by 'Half.1'`)
    await asMysqlAdmin(`grant create, drop on *.* to ${admin}@'%'`)
    try {
      const half = await makeDatabaseHost(world, { username: admin, secret: 'Half.1' })
      const refused = await add('web', { host: half.id })
      expect([refused.status, ...codes(refused)]).toEqual([502, 'DatabaseHostException'])
      expect(await hostedNames(fixtures.server.id)).toEqual([admin])
      // It may not drop users either, so the job goes on asking.
      expect(await rows()).toMatchObject([{ state: 'deleting' }])
      expect((await send('GET')).body.data).toEqual([])
      await asMysqlAdmin(`grant create user on *.* to ${admin}@'%'`)
      world.clock.advance(61)
      await world.runJobs()
      expect([await rows(), await waiting()]).toEqual([[], []])
    } finally {
      await asMysqlAdmin(`drop user ${admin}@'%'`)
    }
  })

  it.each(['CREATE DATABASE', 'CREATE USER', 'GRANT'])(
    'and loses the answer to %s holds nothing when the job has been there',
    async (statement) => {
      await loseAnswersTo(statement)
      expect((await add()).status).toBe(504)
      expect(await rows()).toMatchObject([{ state: 'deleting' }])
      expect((await send('GET')).body.data).toEqual([])
      expect((await add()).status).toBe(422)
      await repair()
      world.clock.advance(61)
      await world.runJobs()
      expect([await rows(), await waiting(), await hostedNames(fixtures.server.id)]).toEqual([[], [], []])
      expect((await add()).status).toBe(201)
    },
  )

  it.each(['DROP DATABASE', 'DROP USER'])(
    'and loses the answer to %s is asked again until both are gone',
    async (statement) => {
      const { id } = (await add()).body.attributes
      await loseAnswersTo(statement)
      expect((await send('DELETE', `/${id}`)).status).toBe(504)
      expect((await send('GET', `/${id}`)).status).toBe(404)
      world.clock.advance(61)
      await world.runJobs()
      expect(await rows()).toHaveLength(1)
      await repair()
      world.clock.advance(3600)
      await world.runJobs()
      expect([await rows(), await waiting(), await hostedNames(fixtures.server.id)]).toEqual([[], [], []])
      expect(await world.events()).toEqual(['server:database.create', 'server:database.delete'])
    },
  )

  it('and loses the answer to a new password agrees on one with the panel in the end', async () => {
    const { id, username } = (await add()).body.attributes
    await loseAnswersTo('ALTER USER')
    expect((await send('POST', `/${id}/reset-password`)).status).toBe(504)
    await repair()
    world.clock.advance(61)
    await world.runJobs()
    await asMysqlUser(username, await passwordOf(id), 'select 1')
    expect(await waiting()).toEqual([])
  })
})

describe.skipIf(!hasMysql)('what a crash leaves', () => {
  /** Puts the job of a finished creation or rotation back, as if the process had died before it called it off. */
  const revive = () => world.database.db.update(jobs).set({ state: 'waiting', finishedAt: null })

  it.each([
    ['before the host was told', false],
    ['after the host was told', true],
  ])('of a creation %s is gone on both sides a minute later', async (_name, isThere) => {
    const { id } = (await add()).body.attributes
    const [row] = await rows()
    if (!isThere) {
      await asMysqlAdmin(`drop database \`${row?.database}\``)
      await asMysqlAdmin(`drop user '${row?.username}'@'%'`)
    }
    await world.database.db.update(databases).set({ state: 'creating' })
    await revive()
    expect((await send('GET', `/${id}`)).status).toBe(404)
    world.clock.advance(61)
    await world.runJobs()
    expect([await rows(), await waiting(), await hostedNames(fixtures.server.id)]).toEqual([[], [], []])
  })

  it('of a deletion is finished by the job', async () => {
    await add()
    await world.database.db.update(databases).set({ state: 'deleting' })
    await revive()
    world.clock.advance(61)
    await world.runJobs()
    expect([await rows(), await waiting(), await hostedNames(fixtures.server.id)]).toEqual([[], [], []])
  })

  it('of a new password that was stored alone is told to the host', async () => {
    const { id, username } = (await add()).body.attributes
    await send('POST', `/${id}/reset-password`)
    await asMysqlAdmin(`alter user '${username}'@'%' identified by 'Before.1'`)
    await revive()
    world.clock.advance(61)
    await world.runJobs()
    await asMysqlUser(username, await passwordOf(id), 'select 1')
    expect(await rows()).toMatchObject([{ state: 'ready' }])
  })

  it('does nothing to a database whose creation was finished', async () => {
    await add()
    await revive()
    world.clock.advance(61)
    await world.runJobs()
    expect(await hostedNames(fixtures.server.id)).toHaveLength(2)
  })
})

describe.skipIf(!hasMysql)('the deletion of a server', () => {
  let daemon: StubDaemon
  beforeEach(async () => {
    daemon = await startStubDaemon()
    fixtures.stubs.push({ close: () => void daemon.close() })
    fixtures.server = await makeServer(world, { node: await makeNode(world, { daemonListen: daemon.port }) })
  })
  const remove = (at = '') =>
    world.request('DELETE', `/api/application/servers/${fixtures.server.id}${at}`, { token: fixtures.token })

  it('drops its databases first', async () => {
    await add('one')
    await add('two')
    expect((await remove()).status).toBe(204)
    expect([await rows(), await waiting(), await hostedNames(fixtures.server.id)]).toEqual([[], [], []])
  })

  it('is refused while a host is away or a database is being created, and loses nothing then', async () => {
    await add()
    await unplug()
    expect((await remove()).status).toBe(504)
    expect(await rows()).toMatchObject([{ state: 'ready' }])
    await repair()
    await world.database.db.update(databases).set({ state: 'creating' })
    expect((await remove()).status).toBe(409)
    expect(await hostedNames(fixtures.server.id)).toHaveLength(2)
    expect(daemon.calls).toEqual([])
  })

  it('by force leaves the databases to jobs', async () => {
    await add()
    await unplug()
    expect((await remove('/force')).status).toBe(204)
    expect(await rows()).toEqual([])
    await world.runJobs()
    expect(await hostedNames(fixtures.server.id)).toHaveLength(2)
    await repair()
    world.clock.advance(3600)
    await world.runJobs()
    expect([await waiting(), await hostedNames(fixtures.server.id)]).toEqual([[], []])
  })
})
