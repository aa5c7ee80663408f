import { beforeAll, describe, expect, it, vi } from 'vitest'
import { findPostgres } from '../../support/cloud-services.ts'
import { findRedisServer } from '../../support/redis-servers.ts'
import { failures } from '../../support/tcp-proxy.ts'
import { expectWholeService } from './whole-service.ts'
import { away503, createFixtures, refusalOf, type Fixtures } from './fixtures.ts'
import { useDeployment } from './deployment.ts'
import type { CacheKind } from './failing-cache.ts'

const hasPostgres = await findPostgres('a panel without its cache')
const hasRedis = await findRedisServer('a panel without its Redis')

const kinds: [name: string, kind: CacheKind][] = [
  ['over the REST protocol of Upstash', 'rest'],
  ...(hasRedis ? [['over TCP', 'tcp'] as [string, CacheKind]] : []),
  ['in the database', 'database'],
]

describe.skipIf(!hasPostgres).each(kinds)('a cache %s that is', (_name, kind) => {
  const deployment = useDeployment({ cache: kind })
  let fixtures: Fixtures
  beforeAll(async () => {
    fixtures = await createFixtures(deployment)
    await fixtures.set({
      'features.console_share': true,
      'console_share.url': 'https://logs.test',
      'sign_in.github': true,
      'sign_in.github_client_id': 'client',
    })
    const secret = { sign_in: { github_client_secret: 'secret' } }
    expect((await fixtures.administrator('PATCH', '/settings', secret)).status).toBe(200)
  })

  it.each(failures)(
    '%s stops nothing but what has to be counted',
    { timeout: 60_000 },
    async (_how, fail) => {
      await fail(deployment.proxies.cache)
      await expectWholeService(deployment, fixtures)
      const before = await deployment.rows()
      const share = await fixtures.player('POST', `/servers/${fixtures.server.uuid}/console/share`, {
        content: 'x',
      })
      expect(refusalOf(share)).toEqual(away503)
      expect(await deployment.rows()).toEqual(before)
    },
  )

  it.each(failures)('%s is not needed to begin to sign in by a passkey or a provider', async (_how, fail) => {
    await fail(deployment.proxies.cache)
    const browser = await fixtures.signIn()
    await browser.ask('POST', '/auth/logout')
    expect((await browser.ask('POST', '/auth/passkeys/options')).status).toBe(200)
    const provider = await browser.ask('GET', '/auth/oauth/github')
    expect([provider.status, provider.headers.get('location')]).toEqual([
      302,
      expect.stringContaining('https://github.com/login/oauth/authorize'),
    ])
  })

  it.each(failures)('%s has many who ask for the same statistics wait for one call', async (_how, fail) => {
    await fail(deployment.proxies.cache)
    deployment.daemon.calls.length = 0
    const path = `/servers/${fixtures.server.uuid}/resources`
    const answers = await Promise.all(Array.from({ length: 8 }, () => fixtures.player('GET', path)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(deployment.daemon.calls.length).toBeLessThan(8)
  })

  it.each(failures)('%s is named by /health, until it is back', async (_how, fail) => {
    await fail(deployment.proxies.cache)
    expect(await deployment.health()).toMatchObject({
      status: 200,
      body: { status: 'degraded', parts: { cache: 'failed', tick: 'unknown', database: 'ok', queue: 'ok' } },
    })
    await deployment.proxies.cache.restore()
    // After a timeout the circuit is open for some seconds.
    await vi.waitFor(
      async () => {
        const { headers } = await fixtures.player('GET', '')
        expect(headers.get('x-ratelimit-limit')).toBe('5000')
      },
      { timeout: 20_000, interval: 200 },
    )
    await deployment.tick()
    expect((await deployment.health()).body).toMatchObject({
      status: 'ok',
      parts: { cache: 'ok', tick: 'ok' },
    })
  })
})
