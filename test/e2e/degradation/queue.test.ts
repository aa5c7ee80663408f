import { eq } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { scheduleRuns } from '../../../src/db/schema.ts'
import { findPostgres } from '../../support/cloud-services.ts'
import { failures } from '../../support/line.ts'
import { expectWholeService } from './round.ts'
import { openScene, type Scene } from './scene.ts'
import { useSite } from './site.ts'

const hasPostgres = await findPostgres('a panel without its queue')

describe.skipIf(!hasPostgres)('a queue that is', () => {
  const site = useSite()
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(site)
  })

  it.each(failures)('%s stops nothing', { timeout: 60_000 }, async (_how, fail) => {
    await fail(site.lines.queue)
    await expectWholeService(site, scene)
  })

  it.each(failures)('%s lets a schedule run with the next tick, once', async (_how, fail) => {
    const { id } = await scene.makeSchedule(scene.server, 'command', 'say late')
    const states = async () => {
      const { db } = site.services.database
      const rows = await db.select().from(scheduleRuns).where(eq(scheduleRuns.scheduleId, id))
      return rows.map(({ state }) => state)
    }
    const said = () =>
      site.daemon.calls.flatMap(({ body }) => body?.commands ?? []).filter((line) => line === 'say late')
        .length
    site.daemon.calls.length = 0
    await fail(site.lines.queue)
    const path = `/servers/${scene.server.uuid}/schedules/${id}/execute`
    expect((await scene.player('POST', path)).status).toBe(202)
    expect([await states(), said()]).toEqual([['running'], 0])
    expect((await site.tick()).status).toBe(200)
    expect([await states(), said()]).toEqual([['succeeded'], 1])
    await site.lines.queue.mend()
    await site.tick()
    expect(said()).toBe(1)
  })

  it.each(failures)('%s is named by /health, until it is back', async (_how, fail) => {
    await site.tick()
    await fail(site.lines.queue)
    expect(await site.health()).toMatchObject({
      status: 200,
      body: { status: 'degraded', parts: { queue: 'failed', database: 'ok', cache: 'ok', tick: 'ok' } },
    })
    await site.lines.queue.mend()
    expect((await site.health()).body.parts.queue).toBe('ok')
  })
})
