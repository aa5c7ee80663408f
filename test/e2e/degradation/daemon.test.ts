import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { servers } from '../../../src/db/schema.ts'
import { findPostgres } from '../../support/cloud-services.ts'
import { failures } from '../../support/tcp-proxy.ts'
import { createFixtures, refusalOf, type Fixtures } from './fixtures.ts'
import { useDeployment } from './deployment.ts'
import { until } from '../../support/until.ts'

const hasPostgres = await findPostgres('a panel without one of its nodes')
const refusal = { code: 'DaemonConnectionException', disclosesInternals: false }

describe.skipIf(!hasPostgres)('a node that is', () => {
  // One connection to the database, so that a request that kept it while it waits would block all others.
  const deployment = useDeployment({ poolSize: 1 })
  let fixtures: Fixtures
  let at: string
  beforeEach(async () => {
    deployment.config.daemonTimeoutMs = 400
    fixtures = await createFixtures(deployment)
    at = `/servers/${fixtures.server.uuid}`
  })

  /** Waits until the circuit of the node is closed again. */
  const waitUntilItIsAskedAgain = () =>
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(Date.now() + 60_000) })
  /** Lets minutes pass until `check` does: while its circuit is tried, a node that is back is refused to others. */
  const passTimeUntil = (check: () => void) =>
    until(async () => {
      await deployment.passTime()
      check()
    })
  const power = () => fixtures.player('POST', `${at}/power`, { signal: 'start' })
  const rowOf = async () => {
    const { db } = deployment.services.database
    return (await db.select().from(servers).where(eq(servers.id, fixtures.server.id)))[0]
  }

  it.each(failures)('%s leaves the panel and all other nodes as they are', async (_how, fail) => {
    await fail(deployment.proxies.daemon)
    await power()
    const other = `/servers/${fixtures.otherServer.uuid}`
    const schedule = await fixtures.makeSchedule(fixtures.server)
    const answers = await Promise.all([
      fixtures.player('GET', ''),
      fixtures.player('GET', '/account'),
      fixtures.player('GET', at),
      fixtures.player('GET', `${at}/activity`),
      fixtures.player('GET', `${at}/backups`),
      fixtures.player('GET', `${at}/startup`),
      fixtures.player('GET', `${at}/websocket`),
      fixtures.player('GET', `${other}/resources`),
      fixtures.player('GET', `${other}/files/download?file=a`),
      fixtures.administrator('GET', `/servers/${fixtures.server.id}`),
      fixtures.administrator('GET', `/nodes/${fixtures.node.id}`),
      fixtures.remote('GET', '/servers'),
    ])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect((await fixtures.player('POST', `${other}/power`, { signal: 'start' })).status).toBe(204)
    expect((await fixtures.player('POST', `${at}/settings/rename`, { name: 'Other' })).status).toBe(204)
    expect((await fixtures.player('POST', `${at}/schedules/${schedule.id}/execute`)).status).toBe(202)
    expect((await deployment.tick()).status).toBe(200)
    expect((await deployment.health()).body.parts).toMatchObject({
      database: 'ok',
      queue: 'ok',
      objects: 'ok',
    })
  })

  it.each(failures)('%s refuses power, commands and files, and that changes nothing', async (how, fail) => {
    await fail(deployment.proxies.daemon)
    const before = await deployment.rows()
    expect(refusalOf(await power())).toMatchObject({ ...refusal, status: 504 })
    const further = await Promise.all([
      power(),
      fixtures.player('POST', `${at}/command`, { command: 'list' }),
      fixtures.player('GET', `${at}/files/list?directory=/`),
      fixtures.player('POST', `${at}/files/create-folder`, { root: '/', name: 'a' }),
      fixtures.administrator('DELETE', `/servers/${fixtures.server.id}`),
    ])
    // An immediate refusal costs nothing, so the panel may keep calling.
    const expected = how === 'hanging' ? { status: 503, retryAfter: true } : { status: 504 }
    for (const answer of further) expect(refusalOf(answer)).toMatchObject({ ...refusal, ...expected })
    expect((await fixtures.player('GET', `${at}/resources`)).status).toBe(504)
    expect(await deployment.rows()).toEqual(before)
    expect((await fixtures.player('POST', `${at}/backups`, {})).status).toBe(expected.status)
    // A job may see to it that the node, too, keeps nothing of a backup that it may have begun.
    const { jobs: _before, ...kept } = before
    expect(await deployment.rows()).toMatchObject(kept)

    await deployment.proxies.daemon.restore()
    waitUntilItIsAskedAgain()
    expect((await power()).status).toBe(204)
    expect((await fixtures.player('POST', `${at}/command`, { command: 'list' })).status).toBe(204)
  })

  /** What the daemon was told; each minute it is also asked how it is. */
  const changes = () =>
    deployment.daemon.calls
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path }) => `${method} ${path}`)

  it.each(failures)('%s is told of suspension and limits when it is back', async (_how, fail) => {
    const { uuid, id, allocationId } = fixtures.server
    await fail(deployment.proxies.daemon)
    expect((await fixtures.administrator('POST', `/servers/${id}/suspend`)).status).toBe(204)
    const limits = { memory: 640, swap: 0, disk: 2048, io: 500, cpu: 50 }
    const build = { allocation: allocationId, limits, feature_limits: { databases: 0, backups: 0 } }
    expect((await fixtures.administrator('PATCH', `/servers/${id}/build`, build)).status).toBe(200)
    expect(await rowOf()).toMatchObject({ status: 'suspended', memory: 640 })
    await deployment.passTime()
    deployment.daemon.calls.length = 0
    await deployment.proxies.daemon.restore()
    waitUntilItIsAskedAgain()
    await passTimeUntil(() =>
      expect(deployment.daemon.calls.map(({ path }) => path)).toContain(`/api/servers/${uuid}/sync`),
    )
    const { body } = await fixtures.remote('GET', `/servers/${uuid}`)
    expect(body.settings).toMatchObject({ suspended: true, build: { memory_limit: 640, disk_space: 2048 } })
    deployment.daemon.calls.length = 0
    await deployment.passTime()
    expect(changes()).toEqual([])
  })

  it.each(failures)('%s is told later of a server that was removed by force', async (_how, fail) => {
    await fail(deployment.proxies.daemon)
    expect((await fixtures.administrator('DELETE', `/servers/${fixtures.server.id}/force`)).status).toBe(204)
    expect((await fixtures.player('GET', at)).status).toBe(404)
    await deployment.passTime()
    deployment.daemon.calls.length = 0
    await deployment.proxies.daemon.restore()
    waitUntilItIsAskedAgain()
    await passTimeUntil(() => expect(changes()).toEqual([`DELETE /api/servers/${fixtures.server.uuid}`]))
  })

  it('hanging does not block the database while requests wait for it', async () => {
    deployment.config.daemonTimeoutMs = 25_000
    let answered = 0
    // Connections that are kept from before would be used again, and not be counted.
    await deployment.proxies.daemon.disconnect()
    await deployment.proxies.daemon.restore()
    deployment.proxies.daemon.stall()
    const calls = deployment.proxies.daemon.connections()
    const waiting = Array.from({ length: 12 }, (_, at) =>
      (at % 2 === 0 ? power() : fixtures.player('GET', `${at}/files/list?directory=/`)).then((answer) => {
        answered += 1
        return answer.status
      }),
    )
    const backup = fixtures.player('POST', `${at}/backups`, {})
    await until(() => expect(deployment.proxies.daemon.connections()).toBeGreaterThan(calls + 5))
    const others = await Promise.all([
      fixtures.player('GET', ''),
      fixtures.administrator('GET', '/servers'),
      fixtures.remote('GET', '/servers'),
      fixtures.player('GET', `/servers/${fixtures.otherServer.uuid}/resources`),
    ])
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect((await fixtures.signIn()).answer.status).toBe(200)
    expect(answered).toBeLessThan(7)
    await deployment.proxies.daemon.restore()
    expect((await Promise.all(waiting)).filter((status) => status === 504)).toHaveLength(6)
    expect((await backup).status).toBe(504)
  })
})
