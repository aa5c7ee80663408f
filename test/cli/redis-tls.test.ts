import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/panel-process.ts'
import { startProcess } from '../support/processes.ts'
import {
  findRedisServer,
  type RedisServer,
  startRedisServer,
  startSentinel,
  startTlsCluster,
  tlsLines,
  tlsOptions,
} from '../support/redis-servers.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'

const hasRedis = await findRedisServer('Redis over TLS')
const authority = (name: string) =>
  fileURLToPath(new URL(`../support/certificates/${name}.crt`, import.meta.url))
const password = 'hush/right'

describe.skipIf(!hasRedis)('Redis over TLS', { timeout: 120_000 }, () => {
  const started: RedisServer[] = []
  /** Addresses of what runs, by name. */
  const urls: Record<string, string> = {}
  const own = async (server: Promise<RedisServer>) => {
    started.push(await server)
    return started.at(-1) as RedisServer
  }

  /** Holds the embedded database for all of them. */
  let base: CommandLine

  beforeAll(async () => {
    base = await openCommandLine()
    await base.script('scripts/migrate.ts', ['--create'])
    const secret = encodeURIComponent(password)
    for (const name of ['localhost', 'other', 'expired']) {
      const port = await freePort()
      await own(startRedisServer(['--requirepass', password, ...tlsOptions(port, name)]))
      urls[name] = `rediss://:${secret}@localhost:${port}`
      if (name !== 'localhost') continue
      const sentinelPort = await freePort()
      await own(startSentinel(port, password, 1, tlsLines(sentinelPort)))
      urls.sentinel = `rediss+sentinel://:${secret}@127.0.0.1:${sentinelPort}/panel`
    }
    const cluster = await startTlsCluster(3)
    started.push(...cluster.nodes)
    urls.cluster = `rediss+cluster://${cluster.ports.map((port) => `127.0.0.1:${port}`).join(',')}`
  }, 120_000)
  afterAll(async () => {
    await Promise.all(started.map((server) => server.close()))
    await base?.remove()
  })

  /** Returns what `doctor` says of the cache, and all that it printed. */
  const examine = async (url: string, trusted: string) => {
    const cli = await openCommandLine({
      DATA_DIR: base.directory,
      REDIS_URL: url,
      NODE_EXTRA_CA_CERTS: trusted && authority(trusted),
    })
    const { stdout, stderr } = await cli.panel('doctor')
    await cli.remove()
    expect(stdout + stderr).not.toContain('hush')
    return /^(\w+) +cache +(.*)$/m.exec(stdout)?.slice(1).join(': ')
  }

  it.each(['localhost', 'sentinel', 'cluster'])(
    'is reached where its authority is trusted: %s',
    async (name) => {
      expect(await examine(urls[name] ?? '', 'localhost')).toMatch(/^ok: answered in \d+ ms$/)
    },
  )

  it.each([
    ['localhost', '', 'self-signed certificate'],
    ['sentinel', '', 'self-signed certificate'],
    ['cluster', '', 'self-signed certificate'],
    ['other', 'other', "is not in the cert's altnames: DNS:other.test"],
    ['expired', 'expired', 'certificate has expired'],
  ])('is refused with the reason: %s, trusting "%s"', async (name, trusted, reason) => {
    const said = await examine(urls[name] ?? '', trusted)
    expect(said).toMatch(/^fail: The certificate of Redis is refused: /)
    expect(said).toContain(reason)
    expect(said).toContain('NODE_EXTRA_CA_CERTS must name the file of its authority')
  })

  it('refuses a wrong password', async () => {
    const url = urls.localhost?.replace('right', 'wrong') ?? ''
    expect(await examine(url, 'localhost')).toMatch(/^fail: WRONGPASS/)
  })

  it('is a failed part of /health while its certificate is not trusted, and doctor asks the panel why', async () => {
    const serve = async (trusted: string) => {
      const panel = await startProcess('functions/all/start.js', {
        env: {
          PORT: '0',
          DATA_DIR: base.directory,
          DEMO: 'false',
          REDIS_URL: urls.localhost ?? '',
          NODE_EXTRA_CA_CERTS: trusted && authority(trusted),
        },
        ready: /Roost serves at/,
      })
      const url = /serves at (\S+)/.exec(panel.output())?.[1] ?? ''
      const health = await fetch(`${url}/health`)
      const report = [health.status, ((await health.json()) as { parts: { cache: string } }).parts.cache]
      return { panel, said: [...report, await examine(urls.localhost ?? '', trusted)] }
    }
    const refused = await serve('')
    await refused.panel.stop()
    expect(refused.said).toEqual([
      200,
      'failed',
      expect.stringContaining('The certificate of Redis is refused'),
    ])
    expect(refused.panel.output()).not.toContain('hush')
    const trusting = await serve('localhost')
    await trusting.panel.stop()
    expect(trusting.said).toEqual([200, 'ok', expect.stringMatching(/^ok: answered/)])
  })
})
