import { and, eq, ne } from 'drizzle-orm'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { activity, jobs, nodes, servers, transfers } from '../../src/db/schema.ts'
import type { ServerStatus } from '../../src/db/tables/servers.ts'
import { makeApplicationToken, makeNode, makeServer } from '../support/factories.ts'
import { startFetchingDaemon } from '../support/fetching-daemon.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let token: string
let node: Awaited<ReturnType<typeof makeNode>>
let server: Awaited<ReturnType<typeof makeServer>>

beforeEach(async () => {
  token = await makeApplicationToken(world)
  node = await makeNode(world, { daemonListen: daemon.port })
  server = await makeServer(world, { node })
})

const reinstall = (options: object = {}, id = server.id) =>
  world.request('POST', `/api/application/servers/${id}/reinstall`, { token, ...options })
const report = (body: object) =>
  world.request('POST', `/api/remote/servers/${server.uuid}/install`, { token: node.token, body })
const rowOf = async () => (await world.database.db.select().from(servers).where(eq(servers.id, server.id)))[0]
const setStatus = (status: ServerStatus) =>
  world.database.db.update(servers).set({ status }).where(eq(servers.id, server.id))
/** Lists the jobs without those that watch installations, which have a suite of their own. */
const waiting = async () =>
  (
    await world.database.db
      .select()
      .from(jobs)
      .where(and(eq(jobs.state, 'waiting'), ne(jobs.name, 'watch-install')))
  ).map(({ key }) => key)

/** The state a crash between commit and call leaves: the status is set and the job still waits. */
async function crash(): Promise<void> {
  await reinstall()
  daemon.calls.length = 0
  await world.database.db.update(jobs).set({ state: 'waiting', finishedAt: null })
  await setStatus('installing')
}

describe('reinstalling a server', () => {
  it('has its daemon install it again, and says so in the audit log', async () => {
    const answer = await reinstall()
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(daemon.calls).toMatchObject([{ method: 'POST', path: `/api/servers/${server.uuid}/reinstall` }])
    expect(await rowOf()).toMatchObject({ status: 'installing', installedAt: server.installedAt })
    const [entry] = await world.database.db.select().from(activity)
    expect(entry).toMatchObject({ event: 'server:reinstall', serverId: server.id, source: 'api' })
    world.clock.advance(600)
    expect(await world.runJobs()).toBe(0)
    expect((await report({ successful: true, reinstall: true })).status).toBe(204)
    expect((await rowOf())?.status).toBeNull()
  })

  it('takes any body, and none, whether it failed before or is stuck', async () => {
    for (const status of ['install_failed', 'reinstall_failed', 'installing'] as const) {
      await setStatus(status)
      expect((await reinstall({ body: [] })).status).toBe(204)
      expect((await rowOf())?.status).toBe('installing')
    }
    expect((await reinstall({ body: null })).status).toBe(204)
    expect((await reinstall({ raw: '' })).status).toBe(204)
  })

  it('is refused while it is suspended, restored or moved', async () => {
    for (const status of ['suspended', 'restoring_backup'] as const) {
      await setStatus(status)
      const { status: code, body } = await reinstall()
      expect([code, body.errors[0].code]).toEqual([409, 'ServerStateConflictException'])
      expect((await rowOf())?.status).toBe(status)
    }
    await setStatus(null)
    await world.database.db.insert(transfers).values({
      serverId: server.id,
      oldNodeId: node.id,
      newNodeId: (await makeNode(world)).id,
      oldAllocationId: server.allocationId,
      newAllocationId: 1,
    })
    expect((await reinstall()).body.errors[0].code).toBe('ConflictHttpException')
    expect((await reinstall({}, 999_999)).status).toBe(404)
    expect(daemon.calls).toEqual([])
    expect(await world.events()).toEqual([])
    expect(await waiting()).toEqual([])
  })

  it('is started by one of many that ask while it is starting', async () => {
    const codes: number[] = []
    const fetching = await startFetchingDaemon(async (uuid) => {
      codes.push((await reinstall()).status)
      return world.request('GET', `/api/remote/servers/${uuid}`, { token: node.token })
    })
    onTestFinished(fetching.close)
    await world.database.db.update(nodes).set({ daemonListen: fetching.port })
    expect((await reinstall()).status).toBe(204)
    expect(codes).toEqual([409])
    expect(await world.events()).toEqual(['server:reinstall'])
  })

  it.each([
    ['fails', { status: 500, json: { error: 'broken' } }, 500],
    ['hangs', { hang: true } as const, 504],
    ['does not know the panel', { status: 401 }, 502],
    ['is busy', { status: 409, json: { error: 'busy' } }, 409],
  ])('changes nothing when the daemon %s', async (_name, answer, code) => {
    if ('hang' in answer) Object.assign(world.services.config, { daemonTimeoutMs: 200 })
    daemon.respond(answer)
    for (const status of [null, 'install_failed', 'reinstall_failed', 'installing'] as const) {
      // After a timeout the circuit of the node is open for a moment.
      world.clock.advance(60)
      await setStatus(status)
      expect(await reinstall()).toMatchObject({
        status: code,
        body: { errors: [{ code: 'DaemonConnectionException' }] },
      })
      expect((await rowOf())?.status).toBe(status)
    }
    expect(await world.events()).toEqual([])
    expect(await waiting()).toEqual([])
  })

  it('that has ended before the daemon failed keeps how it ended', async () => {
    const fetching = await startFetchingDaemon(async (uuid) => {
      await report({ successful: false, reinstall: true })
      const answer = await world.request('GET', `/api/remote/servers/${uuid}`, { token: node.token })
      return { ...answer, status: 500 }
    })
    onTestFinished(fetching.close)
    await world.database.db.update(nodes).set({ daemonListen: fetching.port })
    expect((await reinstall()).status).toBe(500)
    expect((await rowOf())?.status).toBe('reinstall_failed')
  })
})

describe('a reinstallation whose request died', () => {
  it('is asked for by its job after a minute, and recorded once', async () => {
    await crash()
    expect(await world.runJobs()).toBe(0)
    expect((await reinstall()).status).toBe(409)
    world.clock.advance(61)
    expect(await world.runJobs()).toBe(1)
    expect(daemon.calls.map(({ path }) => path)).toEqual([`/api/servers/${server.uuid}/reinstall`])
    expect(await world.events()).toEqual(['server:reinstall'])
    expect(await waiting()).toEqual([])
  })

  it('needs no job once the daemon has reported, or was restarted, or the server is gone', async () => {
    await crash()
    await report({ successful: true, reinstall: true })
    // What is left tells the owner.
    await world.database.db.delete(jobs).where(eq(jobs.name, 'send-mail'))
    expect(await waiting()).toEqual([])
    for (const end of [() => setStatus(null), () => world.database.db.delete(servers)]) {
      await world.database.db.update(jobs).set({ state: 'waiting', finishedAt: null })
      await end()
      world.clock.advance(61)
      expect(await world.runJobs()).toBe(1)
    }
    expect(daemon.calls).toEqual([])
    expect(await world.events()).toEqual(['server:reinstall'])
  })

  it('is tried again until the daemon is back', async () => {
    await crash()
    daemon.respond({ status: 500 })
    world.clock.advance(61)
    await world.runJobs()
    expect(await waiting()).toEqual([`reinstall-server:${server.id}`])
    daemon.respond(null)
    world.clock.advance(60)
    await world.runJobs()
    expect(await waiting()).toEqual([])
    expect((await rowOf())?.status).toBe('installing')
    expect(daemon.calls).toHaveLength(2)
  })

  it('has failed when the daemon stays away', async () => {
    await crash()
    daemon.respond({ status: 500 })
    for (let attempt = 0; attempt < 10; attempt += 1) {
      world.clock.advance(4000)
      await world.runJobs()
    }
    expect((await rowOf())?.status).toBe('reinstall_failed')
    expect(await waiting()).toEqual([])
    expect(await world.events()).toEqual(['server:reinstall', 'server:installation.abandon'])
    daemon.respond(null)
    expect((await reinstall()).status).toBe(204)
  })
})
