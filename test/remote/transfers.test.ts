import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { allocations } from '../../src/db/schema.ts'
import { makeAllocation, makeNode } from '../support/factories.ts'
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

describe('the success of a transfer', () => {
  it('moves the server, frees what it had, and has the old node forget it', async () => {
    await move.start()
    expect((await move.report(move.target, 'success')).status).toBe(204)
    expect(await move.state()).toEqual(move.after())
    const [freed] = await world.database.db
      .select()
      .from(allocations)
      .where(eq(allocations.id, move.additional.id))
    expect(freed).toMatchObject({ serverId: null, notes: null })
    await world.runJobs()
    expect(callsOf(source).slice(1)).toEqual(['DELETE /api/servers/{uuid}'])
    expect(callsOf(target)).toEqual([])
    world.clock.advance(2 * 86_400)
    expect(await world.runJobs()).toBe(0)
  })

  it('frees an allocation of the old node that came to the server on the way', async () => {
    await move.start()
    await makeAllocation(world, move.old, { serverId: move.server.id })
    await move.report(move.target, 'success')
    expect(await move.state()).toEqual(move.after())
  })

  it('is removed from an old node that is away once it is back', async () => {
    await move.start()
    source.respond({ status: 500 })
    await move.report(move.target, 'success')
    await world.runJobs()
    source.respond(null)
    world.clock.advance(60)
    await world.runJobs()
    expect(callsOf(source).slice(1)).toEqual(['DELETE /api/servers/{uuid}', 'DELETE /api/servers/{uuid}'])
  })

  it('is for the new node to tell', async () => {
    await move.start()
    expect((await move.report(move.old, 'success')).status).toBe(403)
    expect((await move.report(await makeNode(world), 'success')).status).toBe(403)
    expect(await move.state()).toMatchObject({ node: move.old.id, ends: [null] })
  })

  it('lets the server move back where it came from', async () => {
    await move.start()
    await move.report(move.target, 'success')
    await world.runJobs()
    const back = { node: move.old.id, allocation: move.additional.id, additional_allocations: [] }
    expect((await move.start(back)).status).toBe(202)
    expect((await move.report(move.old, 'success')).status).toBe(204)
    expect(await move.state()).toEqual({
      ...move.before([true, true]),
      primary: move.additional.id,
      held: [move.additional.id],
    })
  })
})

describe('the failure of a transfer', () => {
  it.each(['old', 'target'] as const)('is for either node to tell: the %s one', async (which) => {
    await move.start()
    expect((await move.report(move[which], 'failure')).status).toBe(204)
    expect(await move.state()).toEqual(move.before([false]))
    await world.runJobs()
    expect(callsOf(source)).toEqual(['POST /api/servers/{uuid}/transfer'])
    expect(callsOf(target)).toEqual(['DELETE /api/servers/{uuid}'])
  })

  it('is not for others to tell', async () => {
    await move.start()
    expect((await move.report(await makeNode(world), 'failure')).status).toBe(403)
    expect(await move.state()).toMatchObject({ ends: [null] })
  })
})

describe('a transfer callback', () => {
  it('is completed only once, whichever report comes second', async () => {
    await move.start()
    const answers = await Promise.all([move.report(move.target, 'success'), move.report(move.old, 'failure')])
    expect(statuses(answers)).toEqual([204, 409])
    expect(await move.state()).toEqual(answers[0].status === 204 ? move.after() : move.before([false]))
    for (const node of [move.old, move.target]) {
      expect((await move.report(node, 'success')).status).toBe(409)
      expect((await move.report(node, 'failure')).status).toBe(409)
    }
  })

  it('without a transfer is refused with 409 to the node of the server and with 403 to others', async () => {
    expect((await move.report(move.old, 'success')).status).toBe(409)
    expect((await move.report(move.old, 'failure')).status).toBe(409)
    expect((await move.report(move.target, 'success')).status).toBe(403)
    const unknown = `/api/remote/servers/${crypto.randomUUID()}/transfer/failure`
    expect((await world.request('POST', unknown, { token: move.old.token })).status).toBe(404)
  })

  it('takes no body, a list, or text for what it is: of no interest', async () => {
    for (const raw of ['', 'null', '[]', '{"successful":false}', 'no JSON']) {
      await move.start()
      const path = `/api/remote/servers/${move.server.uuid}/transfer/failure`
      expect((await world.request('POST', path, { token: move.old.token, raw })).status).toBe(204)
      await world.runJobs()
    }
  })
})
