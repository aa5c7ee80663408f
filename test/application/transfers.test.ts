import { beforeEach, describe, expect, it } from 'vitest'
import { transfers } from '../../src/db/schema.ts'
import { makeApplicationToken, makeClientToken } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { callsOf, type Move, prepareMove } from '../support/transfers.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const source = useStubDaemon()
const target = useStubDaemon()
let move: Move

beforeEach(async () => {
  move = await prepareMove(world, { source, target })
})

const statuses = (answers: { status: number }[]) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b)
const day = 86_400

describe('cancelling a transfer', () => {
  it('frees what was reserved and has the source stop', async () => {
    await move.start()
    expect((await move.cancel()).status).toBe(204)
    expect(await move.state()).toEqual(move.before([false]))
    expect(callsOf(source)).toEqual([
      'POST /api/servers/{uuid}/transfer',
      'DELETE /api/servers/{uuid}/transfer',
    ])
    world.clock.advance(3600)
    await world.runJobs()
    expect(callsOf(source)).toHaveLength(2)
    expect(callsOf(target)).toEqual(['DELETE /api/servers/{uuid}'])
  })

  it.each([404, 409])('does not mind a source that has nothing to stop (%s)', async (status) => {
    await move.start()
    source.respond({ status, json: { error: 'nothing' } })
    expect((await move.cancel()).status).toBe(204)
    source.respond(null)
    world.clock.advance(3600)
    await world.runJobs()
    expect(callsOf(source)).toHaveLength(2)
  })

  it('is done without a source that answers, which a job tells later', async () => {
    await move.start()
    Object.assign(world.services.config, { daemonTimeoutMs: 300 })
    source.respond({ hang: true })
    expect((await move.cancel()).status).toBe(204)
    expect(await move.state()).toEqual(move.before([false]))
    source.respond(null)
    Object.assign(world.services.config, { daemonTimeoutMs: undefined })
    world.clock.advance(15)
    await world.runJobs()
    expect(callsOf(source).slice(1)).toEqual([
      'DELETE /api/servers/{uuid}/transfer',
      'DELETE /api/servers/{uuid}/transfer',
    ])
  })

  it('late does not stop the transfer after it', async () => {
    await move.start()
    source.respond({ status: 500 })
    await move.cancel()
    source.respond(null)
    await world.runJobs()
    expect((await move.start()).status).toBe(202)
    source.calls.length = 0
    world.clock.advance(3600)
    await world.runJobs()
    expect(callsOf(source)).toEqual([])
  })

  it('is refused when there is none, and races a success to one end', async () => {
    expect((await move.cancel()).status).toBe(409)
    await move.start()
    const [cancelled, arrived] = await Promise.all([move.cancel(), move.report(move.target, 'success')])
    expect(statuses([cancelled, arrived])).toEqual([204, 409])
    expect(await move.state()).toEqual(arrived.status === 204 ? move.after() : move.before([false]))
  })
})

describe('while a transfer is open', () => {
  const path = () => `/api/application/servers/${move.server.id}`

  it('its owner is told so', async () => {
    await move.start()
    const token = await makeClientToken(world, { id: move.server.ownerId })
    const at = `/api/client/servers/${move.server.uuid}`
    expect((await world.request('GET', at, { token })).body.attributes.is_transferring).toBe(true)
    const power = { token, body: { signal: 'start' } }
    expect((await world.request('POST', `${at}/power`, power)).status).toBe(409)
  })

  it('both nodes read the server, afterwards only the new one', async () => {
    const read = async () => {
      const paths = [move.old, move.target].map(({ token }) =>
        world.request('GET', `/api/remote/servers/${move.server.uuid}`, { token }),
      )
      return (await Promise.all(paths)).map(({ status }) => status)
    }
    expect(await read()).toEqual([200, 403])
    await move.start()
    expect(await read()).toEqual([200, 200])
    await move.report(move.target, 'success')
    expect(await read()).toEqual([403, 200])
  })

  it('the server is deleted by force only, and then both nodes forget it', async () => {
    await move.start()
    expect((await world.request('DELETE', path(), { token: move.token })).status).toBe(409)
    expect(await move.state()).toEqual(move.during())
    expect((await world.request('DELETE', `${path()}/force`, { token: move.token })).status).toBe(204)
    const nothing = {
      node: undefined,
      primary: undefined,
      held: [],
      used: [
        [0, 0],
        [0, 0],
      ],
      ends: [],
    }
    expect(await move.state()).toEqual(nothing)
    world.clock.advance(day)
    await world.runJobs()
    expect(callsOf(source).slice(1)).toEqual(['DELETE /api/servers/{uuid}'])
    expect(callsOf(target)).toEqual(['DELETE /api/servers/{uuid}'])
  })

  it('its reserved allocations cannot be removed', async () => {
    await move.start()
    const at = `/api/application/nodes/${move.target.id}/allocations/${move.fresh[1].id}`
    expect((await world.request('DELETE', at, { token: move.token })).status).toBe(400)
  })
})

describe('the state of the newest transfer', () => {
  it('is missing before the first one, and costs two statements', async () => {
    expect((await move.show()).status).toBe(404)
    await move.start()
    expect(await world.countStatements(move.show)).toBe(2)
    await move.report(move.target, 'success')
    expect((await move.show()).body.attributes.successful).toBe(true)
    expect(await world.database.db.select().from(transfers)).toHaveLength(1)
    expect(await world.events()).toEqual(['admin:transfer.start'])
  })

  it('can be read, but not changed, by a key that may read servers', async () => {
    const token = await makeApplicationToken(world, { servers: 1 })
    await move.start()
    const at = `/api/application/servers/${move.server.id}/transfer`
    expect((await world.request('GET', at, { token })).status).toBe(200)
    expect((await world.request('DELETE', at, { token })).status).toBe(403)
  })
})
