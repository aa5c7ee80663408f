import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseRedisAddress } from '../../src/adapters/redis-address.ts'
import { redisCache } from '../../src/adapters/redis-cache.ts'
import type { Cache } from '../../src/adapters/cache.ts'
import { upstashCache } from '../../src/adapters/upstash-cache.ts'
import {
  findRedisServer,
  type RedisServer,
  startRedisCluster,
  startRedisServer,
  startSentinel,
} from '../support/redis-servers.ts'
import { expectWorkingCache } from '../support/working-cache.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { startUpstashOver } from '../support/upstash.ts'

const hasRedis = await findRedisServer('the cache over Redis')
const closers: (() => unknown)[] = []

afterEach(async () => {
  vi.useRealTimers()
  for (const close of closers.splice(0).toReversed()) await close()
})

async function own(server: Promise<RedisServer>): Promise<RedisServer> {
  const started = await server
  closers.push(started.close)
  return started
}

function open(url: string, timeoutMs = 1000): Cache {
  const address = parseRedisAddress(url)
  if (!address) throw new Error(`${url} is no address.`)
  const { cache, close } = redisCache(address, timeoutMs)
  closers.push(close)
  return cache
}

describe.skipIf(!hasRedis)('a cache over one Redis', () => {
  it('stores, adds, removes and counts, with a password and in a database of its own', async () => {
    const server = await own(startRedisServer(['--requirepass', 'se/cret']))
    await server.send('AUTH', 'se/cret')
    await expectWorkingCache(open(`redis://:se%2Fcret@127.0.0.1:${server.port}/3`))
    expect(await server.send('DBSIZE')).toBe(0)
    await server.send('SELECT', 3)
    expect(await server.send('DBSIZE')).toBe(2)
    await expectWorkingCache(open(`valkey://default:se%2Fcret@127.0.0.1:${server.port}`))
  })

  it('forgets what has expired, and begins to count again', async () => {
    const server = await own(startRedisServer())
    const cache = open(`redis://127.0.0.1:${server.port}`)
    await cache.set('a', 1, 1)
    await cache.hit('b', 1)
    await vi.waitFor(async () => expect(await cache.get('a')).toBeNull(), { timeout: 5000 })
    await vi.waitFor(async () => expect((await cache.hit('b', 60)).hits).toBe(1), { timeout: 5000 })
  })

  /** How often the server has run a command. */
  const ran = async (server: RedisServer, command: string) =>
    Number(
      new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(
        String(await server.send('INFO', 'commandstats')),
      )?.[1] ?? 0,
    )
  const countMany = async (...caches: Cache[]) => {
    const counted = await Promise.all(
      Array.from({ length: 600 }, async (_, at) => {
        const key = `key-${at % 3}`
        return [key, (await caches[at % caches.length]!.hit(key, 60)).hits] as const
      }),
    )
    for (const name of ['key-0', 'key-1', 'key-2']) {
      const hits = counted.filter(([key]) => key === name).map(([, count]) => count)
      expect(hits.toSorted((one, other) => one - other)).toEqual(
        Array.from({ length: 200 }, (_, at) => at + 1),
      )
    }
  }

  it('gives every hit of several processes a number of its own, by few commands', async () => {
    const server = await own(startRedisServer())
    const address = `redis://127.0.0.1:${server.port}`
    await countMany(open(address), open(address))
    expect(await ran(server, 'evalsha')).toBeLessThan(10)
    expect(await ran(server, 'exec')).toBe(0)
    expect(Number(await server.send('TTL', 'key-0'))).toBeGreaterThan(50)
  })

  it('counts without scripts where they are not allowed', async () => {
    const server = await own(startRedisServer())
    await server.send('ACL', 'SETUSER', 'panel', 'on', '>secret', '~*', '+@all', '-@scripting')
    const address = `redis://panel:secret@127.0.0.1:${server.port}`
    await countMany(open(address), open(address))
    expect(await ran(server, 'exec')).toBeGreaterThan(0)
    expect(Number(await server.send('TTL', 'key-0'))).toBeGreaterThan(50)
  })

  it('fails what a full Redis refuses, and nothing that was sent together with it', async () => {
    const server = await own(startRedisServer())
    const cache = open(`redis://127.0.0.1:${server.port}`)
    await cache.set('kept', 'value', 60)
    await server.send('CONFIG', 'SET', 'maxmemory', '1')
    const [stored, counted, added, read, removed] = await Promise.allSettled([
      cache.set('other', 'value', 60),
      cache.hit('hits', 60),
      cache.add('added', 'value', 60),
      cache.get('kept'),
      cache.remove('gone'),
    ])
    for (const each of [stored, counted, added])
      expect(each).toMatchObject({
        status: 'rejected',
        reason: { message: expect.stringMatching(/^OOM/) },
      })
    expect(read).toEqual({ status: 'fulfilled', value: 'value' })
    expect(removed.status).toBe('fulfilled')
    await server.send('CONFIG', 'SET', 'maxmemory', '0')
    expect((await cache.hit('hits', 60)).hits).toBe(1)
  })

  it('refuses a wrong password with every call', async () => {
    const server = await own(startRedisServer(['--requirepass', 'secret']))
    const cache = open(`redis://:wrong@127.0.0.1:${server.port}`)
    await expect(cache.ping()).rejects.toThrow('WRONGPASS')
    await expect(cache.get('a')).rejects.toThrow('WRONGPASS')
  })

  it('works again with the first call after the server is back', async () => {
    const server = await own(startRedisServer())
    const proxy = await startTcpProxy(server.port)
    closers.push(proxy.close)
    const cache = open(`redis://${proxy.address}`)
    await cache.set('a', 1, 60)
    await proxy.disconnect()
    await expect(cache.get('a')).rejects.toThrow()
    await expect(cache.get('a')).rejects.toThrow('ECONNREFUSED')
    await proxy.restore()
    expect(await cache.get('a')).toBe(1)
    expect(proxy.connections()).toBe(2)
  })

  it('is skipped for five seconds once it hangs, but not by the health check', async () => {
    const server = await own(startRedisServer())
    const proxy = await startTcpProxy(server.port)
    closers.push(proxy.close)
    const cache = open(`redis://${proxy.address}`)
    await cache.set('a', 1, 60)
    proxy.stall()
    await expect(cache.get('a')).rejects.toThrow('did not answer')
    const tried = proxy.connections()
    await expect(cache.hit('a', 60)).rejects.toThrow('has not answered lately')
    expect(proxy.connections()).toBe(tried)
    await expect(cache.ping()).rejects.toThrow('did not answer')
    await proxy.restore()
    await expect(cache.get('a')).rejects.toThrow('has not answered lately')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5_001 })
    expect(await cache.get('a')).toBe(1)
  })
})

describe.skipIf(!hasRedis)('a cache behind sentinels', () => {
  it('follows them to the new master', { timeout: 60_000 }, async () => {
    const password = ['--requirepass', 'secret', '--masterauth', 'secret']
    const master = await own(startRedisServer(password))
    const replica = await own(
      startRedisServer([...password, '--replicaof', '127.0.0.1', String(master.port)]),
    )
    await replica.send('AUTH', 'secret')
    await vi.waitFor(
      async () =>
        expect(String(await replica.send('INFO', 'replication'))).toContain('master_link_status:up'),
      { timeout: 20_000 },
    )
    const sentinels = [
      await own(startSentinel(master.port, 'secret', 2)),
      await own(startSentinel(master.port, 'secret', 2)),
    ]
    await vi.waitFor(
      async () => {
        for (const sentinel of sentinels) {
          const state = String(await sentinel.send('INFO', 'sentinel'))
          expect(state).toContain('slaves=1,sentinels=2')
        }
      },
      { timeout: 30_000 },
    )
    const nodes = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')
    const cache = open(`redis+sentinel://:secret@${nodes}/panel`)
    await expectWorkingCache(cache)
    await master.kill()
    await expect(cache.get('a')).rejects.toThrow()
    await vi.waitFor(() => expectWorkingCache(cache), { timeout: 40_000, interval: 500 })
    // The connection to the replica is closed by its promotion.
    expect(String(await sentinels[0]?.send('INFO', 'sentinel'))).toContain(`:${replica.port}`)
  })
})

describe.skipIf(!hasRedis)('a cache over a cluster', () => {
  it('finds the node of each key, and goes on with the others', { timeout: 60_000 }, async () => {
    const nodes = await startRedisCluster(3)
    closers.push(...nodes.map((node) => node.close))
    for (const node of nodes) await node.send('CONFIG', 'SET', 'cluster-require-full-coverage', 'no')
    const cache = open(`redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`)
    await expectWorkingCache(cache)
    const keys = Array.from({ length: 60 }, (_, index) => `key-${index}`)
    await Promise.all(keys.map((key) => cache.set(key, key, 60)))
    expect(await Promise.all(keys.map((key) => cache.get(key)))).toEqual(keys)
    const held = await Promise.all(nodes.map((node) => node.send('DBSIZE')))
    expect(held.every((count) => Number(count) > 5)).toBe(true)
    await nodes[0]?.kill()
    const readable = async () => {
      const found = await Promise.all(keys.map((key) => cache.get(key).catch(() => null)))
      return found.filter((value) => value !== null).length
    }
    const rest = keys.length
    await vi.waitFor(
      async () => {
        const count = await readable()
        expect(count).toBeGreaterThan(20)
        expect(count).toBeLessThan(rest)
      },
      { timeout: 30_000, interval: 300 },
    )
  })
})

describe('the address of a Redis', () => {
  it.each([
    ['redis://cache.test', { kind: 'server', nodes: [{ host: 'cache.test', port: 6379 }], usesTls: false }],
    [
      'rediss://panel:p%40ss@cache.test:6390/2',
      {
        usesTls: true,
        username: 'panel',
        password: 'p@ss',
        database: 2,
        nodes: [{ host: 'cache.test', port: 6390 }],
      },
    ],
    ['valkeys://[2001:db8::1]:6379', { usesTls: true, nodes: [{ host: '2001:db8::1', port: 6379 }] }],
    [
      'redis+sentinel://:pass@a.test,b.test:26380/panel/1?sentinel_password=other',
      {
        kind: 'sentinel',
        nodes: [
          { host: 'a.test', port: 26_379 },
          { host: 'b.test', port: 26_380 },
        ],
        master: 'panel',
        database: 1,
        password: 'pass',
        sentinelPassword: 'other',
      },
    ],
    [
      'rediss+cluster://a.test:7000,b.test:7001',
      {
        kind: 'cluster',
        usesTls: true,
        nodes: [
          { host: 'a.test', port: 7000 },
          { host: 'b.test', port: 7001 },
        ],
      },
    ],
  ])('%s is read', (url, parts) => {
    expect(parseRedisAddress(url)).toMatchObject(parts)
  })

  it.each([
    'http://cache.test',
    'redis://',
    'redis://a.test,b.test',
    'redis://cache.test:0',
    'redis://cache.test:70000',
    'redis://cache.test/name',
    'redis+sentinel://a.test:26379',
    'redis+cluster://a.test/1',
    'redis://cache.test?sentinel_password=x',
  ])('%s is refused', (url) => {
    expect(parseRedisAddress(url)).toBeNull()
  })
})

describe.skipIf(!hasRedis)('values over TCP', () => {
  it('are those that the REST client reads', async () => {
    const server = await own(startRedisServer())
    const rest = await startUpstashOver(`redis://127.0.0.1:${server.port}`)
    closers.push(rest.close)
    const functions = upstashCache(rest.url, rest.token)
    const processes = open(`redis://127.0.0.1:${server.port}`)
    for (const value of [1, 'text', { a: [true, null] }]) {
      await processes.set('a', value, 60)
      expect(await functions.get('a')).toEqual(value)
      await functions.set('b', value, 60)
      expect(await processes.get('b')).toEqual(value)
    }
    await functions.hit('c', 60)
    expect((await processes.hit('c', 60)).hits).toBe(2)
  })
})
