import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { findContainers } from '../support/container/containers.ts'
import { buildPanel } from '../support/container/images.ts'
import { type Installation, openInstallation } from '../support/container/installation.ts'
import { openRegistry, type Registry } from '../support/container/registry.ts'

const containers = findContainers('profiles and digests of compose.yaml')
const minutes = (count: number) => ({ timeout: count * 60_000 })
const mebibyte = 1024 ** 2
/** What panel and database get of 512 MiB. */
const memory = { panel: 320, database: 192 }

describe.skipIf(containers === null)('profiles and digests of compose.yaml', () => {
  // Not run without one.
  const { engine, images } = containers as NonNullable<typeof containers>
  let registry: Registry
  let pinned: { base: string; redis: string }
  let roost: Installation
  /** An Application key of the first administrator. */
  let key: string

  beforeAll(async () => {
    registry = await openRegistry(engine)
    pinned = { base: await registry.publish(images.base), redis: await registry.publish(images.redis) }
    await buildPanel(engine, { node: images.node, base: pinned.base }, 'roost-pinned')
    roost = openInstallation(engine, images, 'pinned', {
      PANEL_IMAGE: 'roost-pinned',
      PANEL_MEMORY: `${memory.panel}m`,
      REDIS_URL: 'redis://redis:6379',
      VALKEY_IMAGE: pinned.redis,
    })
    await roost.compose('--profile', 'redis', 'up', '-d', 'secrets', 'panel', 'database', 'caddy', 'redis')
    await roost.ready()
    const panel = (...args: string[]) => roost.compose('exec', '-T', 'panel', 'panel', ...args, '--json')
    await panel('user:create', '--email', 'ada@example.com', '--username', 'ada', '--admin')
    key = JSON.parse(await panel('key:create', '--user', 'ada', '--type', 'application')).token
  }, 600_000)
  afterAll(async () => {
    await roost?.compose('--profile', 'redis', 'down', '--volumes', '--remove-orphans').catch(() => undefined)
    await registry?.close()
  }, 120_000)

  const inspect = async (name: string) => JSON.parse(await engine.docker('inspect', name))[0]
  const application = (method: string, path: string, body?: unknown) =>
    roost.send(method, `/api/application${path}`, { key, ...(body === undefined ? {} : { body }) })

  it('take images by their digest', async () => {
    expect(pinned.base).toMatch(/@sha256:[0-9a-f]{64}$/)
    const redis = await inspect(await roost.container('redis'))
    expect(redis.Config.Image).toBe(pinned.redis)
    expect((await inspect(redis.Image)).RepoDigests).toContain(pinned.redis)
    const [bottom] = (await inspect(images.base)).RootFS.Layers
    expect((await inspect('roost-pinned')).RootFS.Layers[0]).toBe(bottom)
  })

  it('count in the Redis of the profile', async () => {
    const redis = (...args: string[]) => roost.compose('exec', '-T', 'redis', 'redis-cli', ...args)
    await redis('flushall')
    expect((await application('GET', '/users')).status).toBe(200)
    const keys = (await redis('--scan')).trim().split('\n')
    expect(keys).toContainEqual(expect.stringMatching(/^throttle:application:/))
    const health = JSON.parse((await roost.send('GET', '/health')).body)
    expect(health.parts.cache).toBe('ok')
  })

  it('run the panel and its database in 512 MiB, under load', minutes(2), async () => {
    const names = { panel: await roost.container('panel'), database: await roost.container('database') }
    const limit = `${memory.database}m`
    await engine.docker('update', '--memory', limit, '--memory-swap', limit, names.database)
    const before = [await inspect(names.panel), await inspect(names.database)]
    const limits = before.map(({ HostConfig }): number => HostConfig.Memory / mebibyte)
    expect(limits.reduce((sum, each) => sum + each)).toBe(512)
    const statuses = new Set<number>()
    const caller = async (_: unknown, number: number) => {
      for (let turn = 0; turn < 20; turn += 1) {
        const name = `user-${number}-${turn}`
        const user = {
          email: `${name}@example.com`,
          username: name,
          first_name: 'Ada',
          last_name: 'L',
          // Hashing one takes the memory that it is made to take.
          ...(turn === 0 ? { password: 'a-long-password' } : {}),
        }
        statuses.add((await application('POST', '/users', user)).status)
        statuses.add((await application('GET', '/users?per_page=100')).status)
        statuses.add((await application('GET', '/nests?include=eggs')).status)
      }
    }
    await Promise.all(Array.from({ length: 16 }, caller))
    expect(statuses).toEqual(new Set([201, 200]))
    for (const { Id, State } of before)
      expect((await inspect(Id)).State).toMatchObject({ Pid: State.Pid, OOMKilled: false })
    for (const [name, id] of Object.entries(names)) {
      const sizes = await engine.docker('top', id, '-eo', 'pid,rss,comm')
      console.info(`${name} below its limit of ${memory[name as keyof typeof memory]} MiB:\n${sizes}`)
    }
  })

  it('give the object store the keys of the panel, and a way through Caddy', async () => {
    const withKeys = openInstallation(engine, images, 'pinned', {
      OBJECTS_DOMAIN: 'objects.example.com',
      S3_ACCESS_KEY_ID: 'id',
      S3_SECRET_ACCESS_KEY: 'secret',
    })
    const { services } = parse(await withKeys.compose('--profile', 'minio', 'config'))
    expect(services.minio.environment).toEqual({ MINIO_ROOT_USER: 'id', MINIO_ROOT_PASSWORD: 'secret' })
    expect(services.panel.environment).toMatchObject({
      S3_ACCESS_KEY_ID: 'id',
      S3_SECRET_ACCESS_KEY: 'secret',
    })
    expect(services.caddy.environment.OBJECTS_DOMAIN).toBe('objects.example.com')
    const caddyfile = await readFile('container/Caddyfile', 'utf8')
    expect(caddyfile).toMatch(/\{\$OBJECTS_DOMAIN:\S+\} \{\n\treverse_proxy minio:9000\n/)
  })
})
