import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { databases } from '../../../src/db/schema.ts'
import { findPostgres } from '../../support/cloud-services.ts'
import { failures, type TcpProxy, startTcpProxy } from '../../support/tcp-proxy.ts'
import { drawServerIds, hasMysql, hostedNames, makeDatabaseHost, mysqlAdmin } from '../../support/mysql.ts'
import { type MysqlProxy, startMysqlProxy } from '../../support/mysql-proxy.ts'
import { expectWholeService } from './whole-service.ts'
import { createFixtures, refusalOf, type Fixtures } from './fixtures.ts'
import { useDeployment } from './deployment.ts'

const hasPostgres = await findPostgres('a panel without a database host')
const unanswered = { status: 504, code: 'DatabaseHostException', disclosesInternals: false }

describe.skipIf(!hasPostgres || !hasMysql)('a database host that is', () => {
  const deployment = useDeployment()
  let proxy: TcpProxy
  let losing: MysqlProxy
  let fixtures: Fixtures
  let host: { id: number }
  let losingHost: { id: number }

  beforeAll(async () => {
    await drawServerIds(deployment.services.world)
    proxy = await startTcpProxy(mysqlAdmin.port)
    losing = await startMysqlProxy()
    const address = { host: '127.0.0.1', maxDatabases: null }
    host = await makeDatabaseHost(deployment.services.world, { ...address, port: proxy.port })
    losingHost = await makeDatabaseHost(deployment.services.world, { ...address, port: losing.port })
  })
  beforeEach(async () => {
    await proxy.restore()
    losing.loseAnswersTo(null)
    fixtures = await createFixtures(deployment)
  })
  afterAll(async () => {
    await proxy?.close()
    losing?.close()
  })

  const at = (path = '') => `/servers/${fixtures.server.id}/databases${path}`
  const create = (name: string, on = host) =>
    fixtures.administrator('POST', at(), { database: name, remote: '%', host: on.id })
  const rowsOfServer = () =>
    deployment.services.database.db.select().from(databases).where(eq(databases.serverId, fixtures.server.id))

  it.each(failures)(
    '%s makes, changes and drops nothing, and everything else goes on',
    { timeout: 60_000 },
    async (_how, fail) => {
      const existing = await create('kept')
      expect(existing.status).toBe(201)
      const path = at(`/${existing.body.attributes.id}`)
      await fail(proxy)
      const before = await deployment.rows()
      const refused = await Promise.all([
        create('refused'),
        fixtures.administrator('POST', `${path}/reset-password`),
        fixtures.administrator('POST', `/database-hosts/${host.id}/test`),
      ])
      expect(refused.slice(0, 2).map(refusalOf)).toMatchObject([unanswered, unanswered])
      expect(refused[2]?.status).toBeGreaterThanOrEqual(400)
      expect(refusalOf(await fixtures.administrator('DELETE', path))).toMatchObject(unanswered)
      const after = await deployment.rows()
      expect({ ...after, jobs: null }).toEqual({ ...before, jobs: null, databases: after.databases })
      expect(await rowsOfServer()).toMatchObject([
        { id: Number(existing.body.attributes.id), state: 'ready' },
      ])
      await expectWholeService(deployment, fixtures)
      expect((await deployment.health()).body.parts.database).toBe('ok')

      await proxy.restore()
      // The place of the refused one is free: the server may have two.
      expect((await create('later')).status).toBe(201)
      expect((await fixtures.administrator('POST', `${path}/reset-password`)).status).toBe(204)
      await deployment.passTime()
      const names = await hostedNames(fixtures.server.id)
      expect(names.filter((name) => name.includes('_refused'))).toEqual([])
      expect((await fixtures.administrator('DELETE', path)).status).toBe(204)
      const later = (await rowsOfServer())[0]
      expect((await fixtures.administrator('DELETE', at(`/${later?.id}`))).status).toBe(204)
      expect(await hostedNames(fixtures.server.id)).toEqual([])
    },
  )

  it('gone while it makes a database is cleared up by a job', async () => {
    losing.loseAnswersTo('CREATE DATABASE')
    expect(refusalOf(await create('halfway', losingHost))).toMatchObject(unanswered)
    const listed = await fixtures.administrator('GET', at())
    expect(listed.body.data).toEqual([])
    expect(await hostedNames(fixtures.server.id)).toEqual([`s${fixtures.server.id}_halfway`])
    await deployment.passTime()
    losing.loseAnswersTo(null)
    await deployment.passTime()
    expect([await rowsOfServer(), await hostedNames(fixtures.server.id)]).toEqual([[], []])
  })

  it('gone while it drops a database has dropped it later', async () => {
    const { body } = await create('unwanted', losingHost)
    losing.loseAnswersTo('DROP USER')
    const path = at(`/${body.attributes.id}`)
    expect(refusalOf(await fixtures.administrator('DELETE', path))).toMatchObject(unanswered)
    expect((await fixtures.administrator('GET', path)).status).toBe(404)
    losing.loseAnswersTo(null)
    await deployment.passTime()
    expect([await rowsOfServer(), await hostedNames(fixtures.server.id)]).toEqual([[], []])
  })
})
