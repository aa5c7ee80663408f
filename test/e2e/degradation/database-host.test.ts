import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { databases } from '../../../src/db/schema.ts'
import { findPostgres } from '../../support/cloud-services.ts'
import { failures, type Line, openLine } from '../../support/line.ts'
import { drawServerIds, hasMysql, hostedNames, makeDatabaseHost, mysqlAdmin } from '../../support/mysql.ts'
import { type MysqlProxy, startMysqlProxy } from '../../support/mysql-proxy.ts'
import { expectWholeService } from './round.ts'
import { openScene, refusalOf, type Scene } from './scene.ts'
import { useSite } from './site.ts'

const hasPostgres = await findPostgres('a panel without a database host')
const unanswered = { status: 504, code: 'DatabaseHostException', isTelling: false }

describe.skipIf(!hasPostgres || !hasMysql)('a database host that is', () => {
  const site = useSite()
  let line: Line
  let losing: MysqlProxy
  let scene: Scene
  let host: { id: number }
  let losingHost: { id: number }

  beforeAll(async () => {
    await drawServerIds(site.services.world)
    line = await openLine(mysqlAdmin.port)
    losing = await startMysqlProxy()
    const address = { host: '127.0.0.1', maxDatabases: null }
    host = await makeDatabaseHost(site.services.world, { ...address, port: line.port })
    losingHost = await makeDatabaseHost(site.services.world, { ...address, port: losing.port })
  })
  beforeEach(async () => {
    await line.mend()
    losing.loseAnswersTo(null)
    scene = await openScene(site)
  })
  afterAll(async () => {
    await line?.close()
    losing?.close()
  })

  const at = (path = '') => `/servers/${scene.server.id}/databases${path}`
  const create = (name: string, on = host) =>
    scene.administrator('POST', at(), { database: name, remote: '%', host: on.id })
  const rowsOfServer = () =>
    site.services.database.db.select().from(databases).where(eq(databases.serverId, scene.server.id))

  it.each(failures)(
    '%s makes, changes and drops nothing, and everything else goes on',
    { timeout: 60_000 },
    async (_how, fail) => {
      const kept = await create('kept')
      expect(kept.status).toBe(201)
      const path = at(`/${kept.body.attributes.id}`)
      await fail(line)
      const before = await site.rows()
      const refused = await Promise.all([
        create('refused'),
        scene.administrator('POST', `${path}/reset-password`),
        scene.administrator('POST', `/database-hosts/${host.id}/test`),
      ])
      expect(refused.slice(0, 2).map(refusalOf)).toMatchObject([unanswered, unanswered])
      expect(refused[2]?.status).toBeGreaterThanOrEqual(400)
      expect(refusalOf(await scene.administrator('DELETE', path))).toMatchObject(unanswered)
      const after = await site.rows()
      expect({ ...after, jobs: null }).toEqual({ ...before, jobs: null, databases: after.databases })
      expect(await rowsOfServer()).toMatchObject([{ id: Number(kept.body.attributes.id), state: 'ready' }])
      await expectWholeService(site, scene)
      expect((await site.health()).body.parts.database).toBe('ok')

      await line.mend()
      // The place of the refused one is free: the server may have two.
      expect((await create('later')).status).toBe(201)
      expect((await scene.administrator('POST', `${path}/reset-password`)).status).toBe(204)
      await site.passTime()
      const names = await hostedNames(scene.server.id)
      expect(names.filter((name) => name.includes('_refused'))).toEqual([])
      expect((await scene.administrator('DELETE', path)).status).toBe(204)
      const later = (await rowsOfServer())[0]
      expect((await scene.administrator('DELETE', at(`/${later?.id}`))).status).toBe(204)
      expect(await hostedNames(scene.server.id)).toEqual([])
    },
  )

  it('gone while it makes a database is cleared up by a job', async () => {
    losing.loseAnswersTo('CREATE DATABASE')
    expect(refusalOf(await create('halfway', losingHost))).toMatchObject(unanswered)
    const listed = await scene.administrator('GET', at())
    expect(listed.body.data).toEqual([])
    expect(await hostedNames(scene.server.id)).toEqual([`s${scene.server.id}_halfway`])
    await site.passTime()
    losing.loseAnswersTo(null)
    await site.passTime()
    expect([await rowsOfServer(), await hostedNames(scene.server.id)]).toEqual([[], []])
  })

  it('gone while it drops a database has dropped it later', async () => {
    const { body } = await create('unwanted', losingHost)
    losing.loseAnswersTo('DROP USER')
    const path = at(`/${body.attributes.id}`)
    expect(refusalOf(await scene.administrator('DELETE', path))).toMatchObject(unanswered)
    expect((await scene.administrator('GET', path)).status).toBe(404)
    losing.loseAnswersTo(null)
    await site.passTime()
    expect([await rowsOfServer(), await hostedNames(scene.server.id)]).toEqual([[], []])
  })
})
