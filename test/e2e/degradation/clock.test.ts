import { beforeEach, describe, expect, it, vi } from 'vitest'
import { findPostgres } from '../../support/cloud-services.ts'
import { giveSecondFactor, type SecondFactor } from '../../support/second-factor.ts'
import type { World } from '../../support/world.ts'
import { expectWholeService } from './whole-service.ts'
import { createFixtures, type Fixtures } from './fixtures.ts'
import { useDeployment } from './deployment.ts'

const hasPostgres = await findPostgres('a panel whose clock is wrong')

describe.skipIf(!hasPostgres)('a clock that is', () => {
  const deployment = useDeployment()
  let fixtures: Fixtures
  let twofold: Fixtures
  let factor: SecondFactor
  beforeEach(async () => {
    fixtures = await createFixtures(deployment)
    twofold = await createFixtures(deployment)
    // Of an authenticator whose clock is right.
    const clock = {
      get now() {
        return new Date(performance.timeOrigin + performance.now())
      },
      advance: () => undefined,
    }
    const { world: opened } = deployment.services
    const world: World = { ...opened, clock, panel: { ...opened.panel, now: () => clock.now } }
    factor = await giveSecondFactor(world, twofold.owner)
  })

  const goWrong = (seconds: number) =>
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(Date.now() + seconds * 1000) })
  const showFactor = async () => {
    const { ask, answer } = await twofold.signIn()
    const { confirmation_token } = answer.body.data
    const authentication_code = await factor.code()
    return ask('POST', '/auth/login/checkpoint', { confirmation_token, authentication_code })
  }

  it.each([120, -120])('%i seconds off stops nothing', { timeout: 60_000 }, async (seconds) => {
    goWrong(seconds)
    await expectWholeService(deployment, fixtures)
  })

  it.each([120, -120])('%i seconds off takes no code of a second factor', async (seconds) => {
    goWrong(seconds)
    expect((await showFactor()).status).toBe(400)
    vi.useRealTimers()
    expect((await showFactor()).status).toBe(200)
  })
})
