import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findPostgres } from '../../support/cloud-services.ts'
import { giveSecondFactor, type SecondFactor } from '../../support/second-factor.ts'
import type { World } from '../../support/world.ts'
import { expectWholeService } from './round.ts'
import { openScene, type Scene } from './scene.ts'
import { useSite } from './site.ts'

const hasPostgres = await findPostgres('a panel whose clock is wrong')

describe.skipIf(!hasPostgres)('a clock that is', () => {
  const site = useSite()
  let scene: Scene
  let twofold: Scene
  let factor: SecondFactor
  beforeEach(async () => {
    scene = await openScene(site)
    twofold = await openScene(site)
    // Of an authenticator whose clock is right.
    const clock = {
      get now() {
        return new Date(performance.timeOrigin + performance.now())
      },
      advance: () => undefined,
    }
    const { world: opened } = site.services
    const world: World = { ...opened, clock, panel: { ...opened.panel, now: () => clock.now } }
    factor = await giveSecondFactor(world, twofold.owner)
  })
  afterEach(() => void vi.useRealTimers())

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
    await expectWholeService(site, scene)
  })

  it.each([120, -120])('%i seconds off takes no code of a second factor', async (seconds) => {
    goWrong(seconds)
    expect((await showFactor()).status).toBe(400)
    vi.useRealTimers()
    expect((await showFactor()).status).toBe(200)
  })
})
