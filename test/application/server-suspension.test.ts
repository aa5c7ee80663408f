import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { jobs, nodes, servers, transfers } from '../../src/db/schema.ts'
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

const send = (verb: 'suspend' | 'unsuspend', options: object = {}, id = server.id) =>
  world.request('POST', `/api/application/servers/${id}/${verb}`, { token, ...options })
const rowOf = async (id = server.id) =>
  (await world.database.db.select().from(servers).where(eq(servers.id, id)))[0]
const setStatus = (status: typeof server.status) =>
  world.database.db.update(servers).set({ status }).where(eq(servers.id, server.id))
const waiting = async () =>
  (await world.database.db.select().from(jobs).where(eq(jobs.state, 'waiting'))).map(({ key }) => key)

/** Has the node's daemon do something before it answers, until the test is over. */
async function standIn(fetch: Parameters<typeof startFetchingDaemon>[0]) {
  const fetching = await startFetchingDaemon(fetch)
  onTestFinished(fetching.close)
  await world.database.db.update(nodes).set({ daemonListen: fetching.port })
  return fetching
}
const fetchAs = (uuid: string) => world.request('GET', `/api/remote/servers/${uuid}`, { token: node.token })

describe('suspending a server', () => {
  it('and ending that tells its daemon each time, once', async () => {
    for (const verb of ['suspend', 'suspend', 'unsuspend', 'unsuspend'] as const) {
      const answer = await send(verb)
      expect([answer.status, answer.text]).toEqual([204, ''])
      const { body } = await world.request('GET', `/api/application/servers/${server.id}`, { token })
      const isSuspended = verb === 'suspend'
      expect(body.attributes).toMatchObject({
        suspended: isSuspended,
        status: isSuspended ? 'suspended' : null,
      })
    }
    const path = `/api/servers/${server.uuid}/sync`
    expect(daemon.calls.map((call) => call.path)).toEqual([path, path])
    expect(await waiting()).toEqual([])
    expect(await world.events()).toEqual(['admin:server.suspend', 'admin:server.unsuspend'])
  })

  it('takes any body, and none', async () => {
    for (const options of [{ body: [] }, { body: null }, { raw: '' }, { body: {} }, {}]) {
      expect((await send('suspend', options)).status).toBe(204)
      expect((await send('unsuspend', options)).status).toBe(204)
    }
  })

  it('is committed when the daemon fetches the server while it is being told', async () => {
    const fetching = await standIn(fetchAs)
    await send('suspend')
    await send('unsuspend')
    expect(fetching.fetched.map(({ body }) => body.settings.suspended)).toEqual([true, false])
  })

  it('that failed to install ends as a normal one', async () => {
    for (const status of ['install_failed', 'reinstall_failed'] as const) {
      await setStatus(status)
      expect((await send('suspend')).status).toBe(204)
      expect((await send('unsuspend')).status).toBe(204)
      expect((await rowOf())?.status).toBeNull()
    }
  })

  it('overrides whatever the server was doing; lifting it leaves a normal server', async () => {
    for (const status of ['installing', 'restoring_backup', 'install_failed', 'reinstall_failed'] as const) {
      await setStatus(status)
      expect((await send('unsuspend')).status).toBe(204)
      expect((await rowOf())?.status).toBe(status)
      expect((await send('suspend')).status).toBe(204)
      expect((await rowOf())?.status).toBe('suspended')
      expect((await send('unsuspend')).status).toBe(204)
      expect((await rowOf())?.status).toBeNull()
    }
  })

  it('is refused while the server is being moved, where it would change anything', async () => {
    await world.database.db.insert(transfers).values({
      serverId: server.id,
      oldNodeId: node.id,
      newNodeId: (await makeNode(world)).id,
      oldAllocationId: server.allocationId,
      newAllocationId: 1,
    })
    expect((await send('unsuspend')).status).toBe(204)
    expect(await send('suspend')).toMatchObject({
      status: 409,
      body: { errors: [{ code: 'ConflictHttpException' }] },
    })
    await setStatus('suspended')
    expect((await send('unsuspend')).status).toBe(409)
    await world.database.db.update(transfers).set({ successful: false })
    expect((await send('unsuspend')).status).toBe(204)
  })

  it('refuses an unknown server', async () => {
    expect((await send('suspend', {}, 999_999)).status).toBe(404)
    expect((await send('unsuspend', {}, 999_999)).status).toBe(404)
  })

  it('is done once by many that ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => send('suspend')))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 204))
    expect(daemon.calls).toHaveLength(1)
  })
})

describe('a daemon that does not take a suspension', () => {
  it.each([
    ['fails', { status: 500, json: { error: 'broken' } }, 500],
    ['does not know the panel', { status: 403 }, 502],
    ['does not know the server', { status: 404 }, 404],
  ])('and %s leaves the status as it was, and is brought to it later', async (_name, answer, code) => {
    for (const [verb, status] of [
      ['suspend', 'install_failed'],
      ['suspend', null],
      ['unsuspend', 'suspended'],
    ] as const) {
      await setStatus(status)
      daemon.respond(answer)
      expect(await send(verb)).toMatchObject({
        status: code,
        body: { errors: [{ code: 'DaemonConnectionException' }] },
      })
      expect((await rowOf())?.status).toBe(status)
      expect(await waiting()).toEqual([`sync-server:${server.id}`])
      daemon.respond(null)
      world.clock.advance(20)
      expect(await world.runJobs()).toBe(1)
      expect((await rowOf())?.status).toBe(status)
    }
  })

  it('because it does not answer is told later', async () => {
    for (const [verb, status] of [
      ['suspend', 'suspended'],
      ['unsuspend', null],
    ] as const) {
      daemon.respond({ hang: true })
      Object.assign(world.services.config, { daemonTimeoutMs: 200 })
      expect((await send(verb)).status).toBe(204)
      Object.assign(world.services.config, { daemonTimeoutMs: undefined })
      expect((await rowOf())?.status).toBe(status)
      expect(await waiting()).toEqual([`sync-server:${server.id}`])
      daemon.respond(null)
      daemon.calls.length = 0
      world.clock.advance(20)
      expect(await world.runJobs()).toBe(1)
      expect(daemon.calls.map(({ path }) => path)).toEqual([`/api/servers/${server.uuid}/sync`])
    }
  })

  it('is told by the job when the process dies before it was told', async () => {
    await send('suspend')
    daemon.calls.length = 0
    // The state a crash between commit and call leaves: the job still waits.
    await world.database.db.update(jobs).set({ state: 'waiting', finishedAt: null })
    world.clock.advance(20)
    expect(await world.runJobs()).toBe(1)
    expect(daemon.calls.map(({ path }) => path)).toEqual([`/api/servers/${server.uuid}/sync`])
    expect((await rowOf())?.status).toBe('suspended')
    await world.database.db.delete(servers)
    await world.database.db.update(jobs).set({ state: 'waiting', finishedAt: null })
    expect(await world.runJobs()).toBe(1)
    expect(daemon.calls).toHaveLength(1)
  })

  it('does not undo what another request changed since', async () => {
    await standIn(async (uuid) => {
      await setStatus('reinstall_failed')
      return { ...(await fetchAs(uuid)), status: 500 }
    })
    expect((await send('suspend')).status).toBe(500)
    expect((await rowOf())?.status).toBe('reinstall_failed')
  })

  it('does not undo what a later delivery has brought there', async () => {
    await standIn(async (uuid) => {
      await world.database.db.update(jobs).set({ state: 'done' })
      return { ...(await fetchAs(uuid)), status: 500 }
    })
    expect((await send('suspend')).status).toBe(204)
    expect((await rowOf())?.status).toBe('suspended')
  })
})
