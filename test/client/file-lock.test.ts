import { describe, expect, it } from 'vitest'
import { DaemonError } from '../../src/adapters/daemon.ts'
import { busily, exclusively, refuseBusy } from '../../src/domain/files/lock.ts'
import { useFileScene } from './file-scene.ts'

const { world, scene } = useFileScene()

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const deadCache = () =>
  Object.assign(world.parts, {
    cache: new Proxy({} as never, { get: () => () => Promise.reject(new Error('The cache is away.')) }),
  })

describe('changes of the files of one server', () => {
  it('happen one after the other', async () => {
    let running = 0
    let most = 0
    await Promise.all(
      Array.from({ length: 12 }, () =>
        exclusively(scene.panel(), scene.server, async () => {
          running += 1
          most = Math.max(most, running)
          await pause(5)
          running -= 1
        }),
      ),
    )
    expect(most).toBe(1)
  })

  it('wait five seconds for another and are refused then', async () => {
    await world.parts.cache.set(`files:${scene.server.uuid}`, 'somebody', 30)
    const before = performance.now()
    const { status, body } = await scene.post('copy', { location: 'a' })
    expect([status, body.errors[0].code]).toEqual([409, 'ConflictHttpException'])
    const waited = performance.now() - before
    expect(waited).toBeGreaterThan(4500)
    expect(waited).toBeLessThan(7000)
    expect(scene.daemon.calls).toEqual([])
    expect(await world.parts.cache.get(`files:${scene.server.uuid}`)).toBe('somebody')
    world.clock.advance(31)
    scene.tree.set('/a', 'x')
    expect((await scene.post('copy', { location: 'a' })).status).toBe(204)
  }, 20_000)

  it('on another server do not wait', async () => {
    const other = { uuid: crypto.randomUUID() }
    await exclusively(scene.panel(), scene.server, async () => {
      expect(await exclusively(scene.panel(), other, async () => 'done')).toBe('done')
    })
  })

  it('that fail let the next one in, and keep the lock while they renew it', async () => {
    await expect(
      exclusively(scene.panel(), scene.server, () => Promise.reject(new Error('no'))),
    ).rejects.toThrow('no')
    await exclusively(scene.panel(), scene.server, async (renew) => {
      for (let step = 0; step < 4; step += 1) {
        world.clock.advance(20)
        await renew()
      }
      expect(await world.parts.cache.get(`files:${scene.server.uuid}`)).not.toBeNull()
    })
    expect(await world.parts.cache.get(`files:${scene.server.uuid}`)).toBeNull()
  })

  it('whose lock has run out leave that of the next one alone', async () => {
    await exclusively(scene.panel(), scene.server, async () => {
      world.clock.advance(31)
      await world.parts.cache.add(`files:${scene.server.uuid}`, 'next', 30)
    })
    expect(await world.parts.cache.get(`files:${scene.server.uuid}`)).toBe('next')
  })

  it('go on without the cache', async () => {
    deadCache()
    scene.tree.set('/a', 'x').set('/z', 'archive')
    expect((await scene.post('copy', { location: 'a' })).status).toBe(204)
    expect((await scene.post('decompress', { file: 'z' })).status).toBe(204)
    await refuseBusy(scene.panel(), scene.server)
  })
})

describe('long operations', () => {
  it('begin while nobody changes files, and leave others to theirs', async () => {
    const steps: string[] = []
    const short = exclusively(scene.panel(), scene.server, async () => {
      await pause(60)
      steps.push('short')
    })
    const long = busily(scene.panel(), scene.server, 300, async () => {
      steps.push('long begins')
      await expect(refuseBusy(scene.panel(), scene.server)).rejects.toMatchObject({ status: 409 })
      await exclusively(scene.panel(), scene.server, async () => void steps.push('another'))
      steps.push('long ends')
    })
    await Promise.all([short, long])
    expect(steps).toEqual(['short', 'long begins', 'another', 'long ends'])
    await refuseBusy(scene.panel(), scene.server)
  })

  it('stay marked when nobody knows how they ended', async () => {
    const fail = (error: Error) =>
      busily(scene.panel(), scene.server, 300, () => Promise.reject(error)).catch(() => undefined)
    await fail(new DaemonError(500, 'no'))
    await fail(new DaemonError(null, 'not asked', { retryAfter: 5 }))
    await refuseBusy(scene.panel(), scene.server)
    await fail(new DaemonError(null, 'no answer'))
    await expect(refuseBusy(scene.panel(), scene.server)).rejects.toMatchObject({ status: 409 })
    world.clock.advance(301)
    await refuseBusy(scene.panel(), scene.server)
  })
})
