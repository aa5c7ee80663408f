import { randomInt } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mysqlHosts, MysqlHostError } from '../../src/adapters/mysql-host.ts'
import { testEgress } from '../support/egress.ts'
import { startMysqlProxy } from '../support/mysql-proxy.ts'
import {
  asMysqlUser,
  hasMysql,
  hostedNames,
  mysqlAdmin,
  startTcpStub,
  type TcpStub,
} from '../support/mysql.ts'

const at = (changes: { host?: string; port?: number; username?: string; secret?: string } = {}) => {
  const { secret = mysqlAdmin.password, ...address } = changes
  return mysqlHosts(testEgress)({ ...mysqlAdmin, ...address, password: async () => secret })
}

const failure = async (work: Promise<unknown>): Promise<MysqlHostError> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(MysqlHostError)
  return error as MysqlHostError
}

describe.skipIf(!hasMysql)('a database host', () => {
  const password = 'aB3!@=.+^'
  let id: number
  let made: { database: string; username: string; remote: string }

  beforeEach(() => {
    id = randomInt(1, 2_000_000_000)
    made = { database: `s${id}_My-Shop`, username: `u${id}_aB3`, remote: '%' }
  })
  afterEach(() => at().dropDatabase(made))

  const create = (host = at()) => host.createDatabase({ ...made, password, maxConnections: 0 })
  const asUser = (statement: string, database = made.database) =>
    asMysqlUser(made.username, password, statement, database)

  it('says what it is', async () => {
    expect(await at().ping()).toEqual({
      version: expect.stringMatching(/^\d+\.\d+/),
      tls: expect.any(Boolean),
    })
  })

  it('makes a database in which its user may do what games need', async () => {
    await create()
    await asUser('create table scores (points int, index (points))')
    await asUser('insert into scores values (7)')
    await asUser('create view best as select max(points) as points from scores')
    expect(await asUser('select points from best')).toEqual([{ points: 7 }])
  })

  it('shows the user of one database none of the others, whatever their names are like', async () => {
    const victim = { database: `s${id}1_x`, username: `u${id}1_v`, remote: '%' }
    made = { ...made, database: `s${id}__x` }
    try {
      await at().createDatabase({ ...victim, password, maxConnections: 0 })
      await create()
      await expect(asUser('select 1', victim.database)).rejects.toThrow(/denied/)
      await expect(asUser('select 1', 'mysql')).rejects.toThrow(/denied/)
      const seen = await asUser('show databases')
      expect(seen.flatMap((row) => Object.values(row))).not.toContain(victim.database)
    } finally {
      await at().dropDatabase(victim)
    }
  })

  it('leaves a database alone that is there already', async () => {
    await create()
    await asUser('create table kept (a int)')
    const error = await failure(
      at().createDatabase({ ...made, username: `u${id}_other`, password, maxConnections: 0 }),
    )
    expect(error).toMatchObject({ reason: 'exists', mayHaveChanged: false })
    expect(await asUser('show tables')).toHaveLength(1)
    expect(await hostedNames(id)).toHaveLength(2)
  })

  it('changes a password, after which the old one is refused', async () => {
    await create()
    await at().setPassword(made, 'Another.1')
    await expect(asUser('select 1')).rejects.toThrow(/denied/)
    expect(await asMysqlUser(made.username, 'Another.1', 'select 1 as one')).toEqual([{ one: 1 }])
  })

  it('drops database and user, as often as it is asked', async () => {
    await create()
    await at().dropDatabase(made)
    await at().dropDatabase(made)
    expect(await hostedNames(id)).toEqual([])
  })

  it('refuses a wrong password in words that hold neither it nor the statement', async () => {
    const error = await failure(at({ secret: 'wrong-secret' }).ping())
    expect(error).toMatchObject({ reason: 'refused', mayHaveChanged: false })
    expect(JSON.stringify([error, error.message, error.cause, error.stack])).not.toContain('secret')
    expect(error.message).toContain('ER_ACCESS_DENIED_ERROR')
  })

  it('says when a statement may have been carried out though its answer was lost', async () => {
    const proxy = await startMysqlProxy()
    try {
      proxy.loseAnswersTo('CREATE DATABASE')
      const error = await failure(create(at({ host: '127.0.0.1', port: proxy.port })))
      expect(error).toMatchObject({ reason: 'unreachable', mayHaveChanged: true })
      proxy.loseAnswersTo('lock_wait_timeout')
      const early = await failure(create(at({ host: '127.0.0.1', port: proxy.port })))
      expect(early).toMatchObject({ reason: 'unreachable', mayHaveChanged: false })
    } finally {
      proxy.close()
    }
  })

  it('is told no name that the panel cannot have made', async () => {
    for (const database of ['a`; drop database mysql; --', 'a b', '', 'x'.repeat(65), 'ä']) {
      await expect(at().dropDatabase({ ...made, database })).rejects.toThrow(
        'The name of the database is invalid.',
      )
    }
  })
})

describe('what is no database host', () => {
  const stubs: TcpStub[] = []
  afterEach(() => stubs.splice(0).forEach((stub) => stub.close()))

  it('is out of reach when nothing listens there', async () => {
    const closed = await startTcpStub()
    closed.close()
    const error = await failure(at({ host: '127.0.0.1', port: closed.port }).ping())
    expect(error).toMatchObject({ reason: 'unreachable', mayHaveChanged: false })
  })

  it('times out when it sends nothing, and ends no process whatever it sends', async () => {
    const greetings = [null, 'SSH-2.0-Something\r\n', Buffer.alloc(2000), Buffer.from([1, 0, 0, 0, 255])]
    const errors = await Promise.all(
      greetings.map(async (greeting) => {
        const stub = await startTcpStub((socket) => void (greeting && socket.write(greeting)))
        stubs.push(stub)
        return failure(at({ host: '127.0.0.1', port: stub.port }).ping())
      }),
    )
    expect(errors.map(({ reason }) => reason)).toEqual(greetings.map(() => 'unreachable'))
    expect(errors.every(({ mayHaveChanged }) => !mayHaveChanged)).toBe(true)
  })
})
