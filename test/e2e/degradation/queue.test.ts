import { eq } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { scheduleRuns } from '../../../src/db/schema.ts'
import { findPostgres } from '../../support/cloud-services.ts'
import { failures } from '../../support/tcp-proxy.ts'
import { expectWholeService } from './whole-service.ts'
import { createFixtures, type Fixtures } from './fixtures.ts'
import { useDeployment } from './deployment.ts'

const hasPostgres = await findPostgres('a panel without its queue')

describe.skipIf(!hasPostgres)('a queue that is', () => {
  const deployment = useDeployment()
  let fixtures: Fixtures
  beforeAll(async () => {
    fixtures = await createFixtures(deployment)
  })

  it.each(failures)('%s stops nothing', { timeout: 60_000 }, async (_how, fail) => {
    await fail(deployment.proxies.queue)
    await expectWholeService(deployment, fixtures)
  })

  it.each(failures)('%s lets a schedule run with the next tick, once', async (_how, fail) => {
    const { id } = await fixtures.makeSchedule(fixtures.server, 'command', 'say late')
    const states = async () => {
      const { db } = deployment.services.database
      const rows = await db.select().from(scheduleRuns).where(eq(scheduleRuns.scheduleId, id))
      return rows.map(({ state }) => state)
    }
    const said = () =>
      deployment.daemon.calls
        .flatMap(({ body }) => body?.commands ?? [])
        .filter((line) => line === 'say late').length
    deployment.daemon.calls.length = 0
    await fail(deployment.proxies.queue)
    const path = `/servers/${fixtures.server.uuid}/schedules/${id}/execute`
    expect((await fixtures.player('POST', path)).status).toBe(202)
    expect([await states(), said()]).toEqual([['running'], 0])
    expect((await deployment.tick()).status).toBe(200)
    expect([await states(), said()]).toEqual([['succeeded'], 1])
    await deployment.proxies.queue.restore()
    await deployment.tick()
    expect(said()).toBe(1)
  })

  it.each(failures)('%s is named by /health, until it is back', async (_how, fail) => {
    await deployment.tick()
    await fail(deployment.proxies.queue)
    expect(await deployment.health()).toMatchObject({
      status: 200,
      body: { status: 'degraded', parts: { queue: 'failed', database: 'ok', cache: 'ok', tick: 'ok' } },
    })
    await deployment.proxies.queue.restore()
    expect((await deployment.health()).body.parts.queue).toBe('ok')
  })
})
