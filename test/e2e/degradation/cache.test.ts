import { beforeAll, describe, expect, it, vi } from 'vitest'
import { findPostgres } from '../../support/cloud-services.ts'
import { failures } from '../../support/line.ts'
import { expectWholeService } from './round.ts'
import { away503, openScene, refusalOf, type Scene } from './scene.ts'
import { useSite } from './site.ts'

const hasPostgres = await findPostgres('a panel without its cache')

describe.skipIf(!hasPostgres)('a cache that is', () => {
  const site = useSite()
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(site)
    await scene.set({
      'features.console_share': true,
      'console_share.url': 'https://logs.test',
      'sign_in.github': true,
      'sign_in.github_client_id': 'client',
    })
    const secret = { sign_in: { github_client_secret: 'secret' } }
    expect((await scene.administrator('PATCH', '/settings', secret)).status).toBe(200)
  })

  it.each(failures)(
    '%s stops nothing but what has to be counted',
    { timeout: 60_000 },
    async (_how, fail) => {
      await fail(site.lines.cache)
      await expectWholeService(site, scene)
      const before = await site.rows()
      const share = await scene.player('POST', `/servers/${scene.server.uuid}/console/share`, {
        content: 'x',
      })
      expect(refusalOf(share)).toEqual(away503)
      expect(await site.rows()).toEqual(before)
    },
  )

  it.each(failures)('%s is not needed to begin to sign in by a passkey or a provider', async (_how, fail) => {
    await fail(site.lines.cache)
    const browser = await scene.signIn()
    await browser.ask('POST', '/auth/logout')
    expect((await browser.ask('POST', '/auth/passkeys/options')).status).toBe(200)
    const provider = await browser.ask('GET', '/auth/oauth/github')
    expect([provider.status, provider.headers.get('location')]).toEqual([
      302,
      expect.stringContaining('https://github.com/login/oauth/authorize'),
    ])
  })

  it.each(failures)('%s has many who ask for the same statistics wait for one call', async (_how, fail) => {
    await fail(site.lines.cache)
    site.daemon.calls.length = 0
    const path = `/servers/${scene.server.uuid}/resources`
    const answers = await Promise.all(Array.from({ length: 8 }, () => scene.player('GET', path)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(site.daemon.calls.length).toBeLessThan(8)
  })

  it.each(failures)('%s is named by /health, until it is back', async (_how, fail) => {
    await fail(site.lines.cache)
    expect(await site.health()).toMatchObject({
      status: 200,
      body: { status: 'degraded', parts: { cache: 'failed', tick: 'unknown', database: 'ok', queue: 'ok' } },
    })
    await site.lines.cache.mend()
    // One that did not answer is left alone for some seconds.
    await vi.waitFor(
      async () => {
        const { headers } = await scene.player('GET', '')
        expect(headers.get('x-ratelimit-limit')).toBe('5000')
      },
      { timeout: 20_000, interval: 200 },
    )
    await site.tick()
    expect((await site.health()).body).toMatchObject({ status: 'ok', parts: { cache: 'ok', tick: 'ok' } })
  })
})
