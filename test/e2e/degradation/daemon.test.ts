import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { servers } from '../../../src/db/schema.ts'
import { findPostgres } from '../../support/cloud-services.ts'
import { failures } from '../../support/line.ts'
import { openScene, refusalOf, type Scene } from './scene.ts'
import { useSite } from './site.ts'

const hasPostgres = await findPostgres('a panel without one of its nodes')
const refusal = { code: 'DaemonConnectionException', isTelling: false }

describe.skipIf(!hasPostgres)('a node that is', () => {
  // One connection to the database, so that whoever kept it while he waits would keep everybody waiting.
  const site = useSite({ poolSize: 1 })
  let scene: Scene
  let at: string
  beforeEach(async () => {
    site.config.daemonTimeout = 400
    scene = await openScene(site)
    at = `/servers/${scene.server.uuid}`
  })
  afterEach(() => void vi.useRealTimers())

  /** The panel leaves a node alone for a while that did not answer. */
  const waitUntilItIsAskedAgain = () =>
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(Date.now() + 60_000) })
  const power = () => scene.player('POST', `${at}/power`, { signal: 'start' })
  const rowOf = async () => {
    const { db } = site.services.database
    return (await db.select().from(servers).where(eq(servers.id, scene.server.id)))[0]
  }

  it.each(failures)('%s leaves the panel and all other nodes as they are', async (_how, fail) => {
    await fail(site.lines.daemon)
    await power()
    const other = `/servers/${scene.otherServer.uuid}`
    const schedule = await scene.makeSchedule(scene.server)
    const answers = await Promise.all([
      scene.player('GET', ''),
      scene.player('GET', '/account'),
      scene.player('GET', at),
      scene.player('GET', `${at}/activity`),
      scene.player('GET', `${at}/backups`),
      scene.player('GET', `${at}/startup`),
      scene.player('GET', `${at}/websocket`),
      scene.player('GET', `${other}/resources`),
      scene.player('GET', `${other}/files/download?file=a`),
      scene.administrator('GET', `/servers/${scene.server.id}`),
      scene.administrator('GET', `/nodes/${scene.node.id}`),
      scene.remote('GET', '/servers'),
    ])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect((await scene.player('POST', `${other}/power`, { signal: 'start' })).status).toBe(204)
    expect((await scene.player('POST', `${at}/settings/rename`, { name: 'Other' })).status).toBe(204)
    expect((await scene.player('POST', `${at}/schedules/${schedule.id}/execute`)).status).toBe(202)
    expect((await site.tick()).status).toBe(200)
    expect((await site.health()).body.parts).toMatchObject({ database: 'ok', queue: 'ok', objects: 'ok' })
  })

  it.each(failures)('%s refuses power, commands and files, and that changes nothing', async (how, fail) => {
    await fail(site.lines.daemon)
    const before = await site.rows()
    expect(refusalOf(await power())).toMatchObject({ ...refusal, status: 504 })
    const further = await Promise.all([
      power(),
      scene.player('POST', `${at}/command`, { command: 'list' }),
      scene.player('GET', `${at}/files/list?directory=/`),
      scene.player('POST', `${at}/files/create-folder`, { root: '/', name: 'a' }),
      scene.administrator('DELETE', `/servers/${scene.server.id}`),
    ])
    // Whoever is refused at once costs nobody anything, so he may go on asking.
    const expected = how === 'hanging' ? { status: 503, retryAfter: true } : { status: 504 }
    for (const answer of further) expect(refusalOf(answer)).toMatchObject({ ...refusal, ...expected })
    expect((await scene.player('GET', `${at}/resources`)).status).toBe(504)
    expect(await site.rows()).toEqual(before)
    expect((await scene.player('POST', `${at}/backups`, {})).status).toBe(expected.status)
    // A job may see to it that the node, too, keeps nothing of a backup that it may have begun.
    const { jobs: _before, ...kept } = before
    expect(await site.rows()).toMatchObject(kept)

    await site.lines.daemon.mend()
    waitUntilItIsAskedAgain()
    expect((await power()).status).toBe(204)
    expect((await scene.player('POST', `${at}/command`, { command: 'list' })).status).toBe(204)
  })

  it.each(failures)('%s is told of suspension and limits when it is back', async (_how, fail) => {
    const { uuid, id, allocationId } = scene.server
    await fail(site.lines.daemon)
    expect((await scene.administrator('POST', `/servers/${id}/suspend`)).status).toBe(204)
    const limits = { memory: 640, swap: 0, disk: 2048, io: 500, cpu: 50 }
    const build = { allocation: allocationId, limits, feature_limits: { databases: 0, backups: 0 } }
    expect((await scene.administrator('PATCH', `/servers/${id}/build`, build)).status).toBe(200)
    expect(await rowOf()).toMatchObject({ status: 'suspended', memory: 640 })
    await site.passTime()
    site.daemon.calls.length = 0
    await site.lines.daemon.mend()
    waitUntilItIsAskedAgain()
    await site.passTime()
    expect(site.daemon.calls.map(({ path }) => path)).toContain(`/api/servers/${uuid}/sync`)
    const { body } = await scene.remote('GET', `/servers/${uuid}`)
    expect(body.settings).toMatchObject({ suspended: true, build: { memory_limit: 640, disk_space: 2048 } })
    site.daemon.calls.length = 0
    await site.passTime()
    expect(site.daemon.calls).toEqual([])
  })

  it.each(failures)('%s is told later of a server that was removed by force', async (_how, fail) => {
    await fail(site.lines.daemon)
    expect((await scene.administrator('DELETE', `/servers/${scene.server.id}/force`)).status).toBe(204)
    expect((await scene.player('GET', at)).status).toBe(404)
    await site.passTime()
    site.daemon.calls.length = 0
    await site.lines.daemon.mend()
    waitUntilItIsAskedAgain()
    await site.passTime()
    const told = site.daemon.calls.map(({ method, path }) => `${method} ${path}`)
    expect(told).toEqual([`DELETE /api/servers/${scene.server.uuid}`])
  })

  it('hanging keeps nobody from the database while others wait for it', async () => {
    site.config.daemonTimeout = 25_000
    let answered = 0
    site.lines.daemon.silence()
    const calls = site.lines.daemon.connections()
    const waiting = Array.from({ length: 12 }, (_, at) =>
      (at % 2 === 0 ? power() : scene.player('GET', `${at}/files/list?directory=/`)).then((answer) => {
        answered += 1
        return answer.status
      }),
    )
    const backup = scene.player('POST', `${at}/backups`, {})
    await vi.waitFor(() => expect(site.lines.daemon.connections()).toBeGreaterThan(calls + 5), 10_000)
    const others = await Promise.all([
      scene.player('GET', ''),
      scene.administrator('GET', '/servers'),
      scene.remote('GET', '/servers'),
      scene.player('GET', `/servers/${scene.otherServer.uuid}/resources`),
    ])
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect((await scene.signIn()).answer.status).toBe(200)
    expect(answered).toBeLessThan(7)
    await site.lines.daemon.mend()
    expect((await Promise.all(waiting)).filter((status) => status === 504)).toHaveLength(6)
    expect((await backup).status).toBe(504)
  })
})
