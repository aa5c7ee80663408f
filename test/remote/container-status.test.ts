import { beforeEach, describe, expect, it } from 'vitest'
import { makeClientToken, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { prepareMove } from '../support/transfers.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
const target = useStubDaemon()
let node: Awaited<ReturnType<typeof makeNode>>
let server: Awaited<ReturnType<typeof makeServer>>
let token: string

beforeEach(async () => {
  const owner = await makeUser(world)
  node = await makeNode(world, { daemonListen: daemon.port })
  server = await makeServer(world, { owner, node })
  token = await makeClientToken(world, owner)
})

const data = (previous: unknown, next: unknown) => ({ data: { previous_state: previous, new_state: next } })
const push = (body: unknown, as = node.token, uuid = server.uuid) =>
  world.request('POST', `/api/remote/servers/${uuid}/container/status`, { token: as, body })
const readState = async () => {
  const { body } = await world.request('GET', `/api/client/servers/${server.uuid}/resources`, { token })
  return body.attributes?.current_state
}
const readBatchState = async () => {
  const { body } = await world.request('GET', `/api/client/servers/resources?servers=${server.uuid}`, {
    token,
  })
  return body.data?.[0]?.attributes?.current_state
}
const report = (state: string) => ({
  json: { state, is_suspended: false, utilization: { memory_bytes: 7, uptime: 5 } },
})

describe('POST /api/remote/servers/{uuid}/container/status', () => {
  it('renews the cached state, which GET …/resources shows right after without asking the daemon', async () => {
    daemon.respond(report('offline'))
    expect(await readState()).toBe('offline')
    for (const [previous, next] of [
      ['offline', 'starting'],
      ['starting', 'running'],
      ['running', 'stopping'],
      ['stopping', 'offline'],
    ]) {
      const { status, text } = await push(data(previous, next))
      expect([status, text]).toEqual([204, ''])
      expect(await readState()).toBe(next)
    }
    expect(daemon.calls).toHaveLength(1)
  })

  it('counts more than a report that was requested before it', async () => {
    daemon.respond(async () => {
      expect((await push(data('starting', 'running'))).status).toBe(204)
      return report('starting')
    })
    expect(await readState()).toBe('running')
    expect(await readState()).toBe('running')
    expect(daemon.calls).toHaveLength(1)
  })

  it('is shown without a cached report, in the statistics of one server and of several', async () => {
    daemon.respond((call) =>
      call.path === '/api/servers'
        ? { json: [{ ...report('offline').json, configuration: { uuid: server.uuid } }] }
        : report('offline'),
    )
    await push(data('starting', 'running'))
    expect(await readBatchState()).toBe('running')
    expect(await readState()).toBe('running')
    world.clock.advance(21)
    expect(await readState()).toBe('offline')
  })

  it('gives way to the next power signal', async () => {
    daemon.respond(report('running'))
    await push(data('starting', 'running'))
    expect(await readState()).toBe('running')
    daemon.respond((call) => (call.method === 'POST' ? null : report('stopping')))
    const path = `/api/client/servers/${server.uuid}/power`
    expect((await world.request('POST', path, { token, body: { signal: 'stop' } })).status).toBe(204)
    expect(await readState()).toBe('stopping')
  })

  it('counts at once where lists are sorted and filtered by the state', async () => {
    const running = async () => {
      const path = '/api/client/servers?filter[state]=running'
      return (await world.request('GET', path, { token })).body.meta.pagination.total
    }
    expect(await running()).toBe(0)
    await push(data('offline', 'running'))
    expect(await running()).toBe(1)
    world.clock.advance(1)
    await push(data('running', 'stopping'))
    expect(await running()).toBe(0)
    await push(data('offline', 'running'), (await makeNode(world)).token)
    expect(await running()).toBe(0)
  })

  it('takes the short identifier, in one statement after the credential', async () => {
    await push(data('offline', 'starting'))
    expect(
      await world.countStatements(() => push(data('offline', 'starting'), node.token, server.uuidShort)),
    ).toBe(2)
  })

  it('refuses unknown states with 422 and changes nothing', async () => {
    daemon.respond(report('offline'))
    await readState()
    for (const body of [
      data('offline', 'stopped'),
      data('missing', 'running'),
      data(null, 'running'),
      data('offline', ['running']),
      { data: { new_state: 'running' } },
      { data: null },
      {},
      [],
    ]) {
      expect((await push(body)).status, JSON.stringify(body)).toBe(422)
    }
    expect(await readState()).toBe('offline')
  })

  it('is refused with 403 of another node, with 404 of an unknown server and with 401 without a credential', async () => {
    daemon.respond(report('offline'))
    await readState()
    const other = await makeNode(world)
    expect((await push(data('offline', 'running'), other.token)).status).toBe(403)
    expect((await push(data('offline', 'running'), node.token, crypto.randomUUID())).status).toBe(404)
    const path = `/api/remote/servers/${server.uuid}/container/status`
    expect((await world.request('POST', path, { body: data('offline', 'running') })).status).toBe(401)
    expect(await readState()).toBe('offline')
  })

  it('counts from the side that runs the server during and after a transfer', async () => {
    const move = await prepareMove(world, { source: daemon, target })
    const state = () => world.services.cache.get<{ state: string | null }>(`stats-change:${move.server.uuid}`)
    const pushFrom = async (from: { token: string }, next: string) =>
      (await push(data('offline', next), from.token, move.server.uuid)).status
    await move.start()
    expect(await pushFrom(move.old, 'running')).toBe(204)
    expect(await pushFrom(move.target, 'starting')).toBe(204)
    expect(await state()).toEqual({ state: 'running' })
    expect((await move.report(move.target, 'success')).status).toBe(204)
    expect(await pushFrom(move.target, 'starting')).toBe(204)
    expect(await pushFrom(move.old, 'offline')).toBe(403)
    expect(await state()).toEqual({ state: 'starting' })
  })
})
