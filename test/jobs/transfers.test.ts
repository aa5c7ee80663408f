import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { jobs } from '../../src/db/schema.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { callsOf, type Move, prepareMove } from '../support/transfers.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const source = useStubDaemon()
const target = useStubDaemon()
const day = 86_400
let move: Move

beforeEach(async () => {
  move = await prepareMove(world, { source, target })
})

/** Makes the state that a crash between commit and call leaves: the daemon was not called and the job still waits. */
const forgetOrder = async () => {
  source.calls.length = 0
  await world.database.db
    .update(jobs)
    .set({ state: 'waiting', finishedAt: null })
    .where(eq(jobs.name, 'start-transfer'))
}

describe('a transfer whose process died before the source was told', () => {
  it('is ordered again after a minute', async () => {
    await move.start()
    await forgetOrder()
    expect(await world.runJobs()).toBe(0)
    world.clock.advance(60)
    expect(await world.runJobs()).toBe(1)
    expect(callsOf(source)).toEqual(['POST /api/servers/{uuid}/transfer'])
    expect(source.calls[0]?.body.url).toBe(`http://127.0.0.1:${target.port}/api/transfers`)
    expect(await move.state()).toEqual(move.during())
  })

  it('goes on where the source has the order already', async () => {
    await move.start()
    await forgetOrder()
    source.respond({ status: 409, json: { error: 'already' } })
    world.clock.advance(60)
    await world.runJobs()
    expect(await move.state()).toEqual(move.during())
  })

  it('fails where the source does not take the order', async () => {
    await move.start()
    await forgetOrder()
    source.respond({ status: 500 })
    world.clock.advance(60)
    await world.runJobs()
    expect(await move.state()).toEqual(move.before([false]))
  })

  it('is left alone when it has ended meanwhile', async () => {
    await move.start()
    await move.report(move.target, 'failure')
    await forgetOrder()
    world.clock.advance(60)
    await world.runJobs()
    expect(callsOf(source)).toEqual([])
  })
})

describe('a transfer without a report', () => {
  it('fails after a day, and late callbacks change nothing', async () => {
    await move.start()
    world.clock.advance(day - 1)
    await world.runJobs()
    expect(await move.state()).toEqual(move.during())
    world.clock.advance(1)
    await world.runJobs()
    expect(await move.state()).toEqual(move.before([false]))
    expect((await move.report(move.target, 'success')).status).toBe(409)
    expect((await move.report(move.old, 'failure')).status).toBe(409)
    expect(await move.state()).toEqual(move.before([false]))
    world.clock.advance(60)
    await world.runJobs()
    expect(callsOf(source)).toContain('DELETE /api/servers/{uuid}/transfer')
    expect(callsOf(target)).toEqual(['DELETE /api/servers/{uuid}'])
  })

  it('does not end the next one', async () => {
    await move.start()
    await move.report(move.old, 'failure')
    await world.runJobs()
    world.clock.advance(3600)
    await move.start()
    world.clock.advance(day - 60)
    await world.runJobs()
    expect(await move.state()).toEqual(move.during([false, null]))
  })
})
