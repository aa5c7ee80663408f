import { describe, expect, it, vi } from 'vitest'
import { DaemonError } from '../../src/adapters/daemon-error.ts'
import { withBusyMark, withFileLock, refuseBusy } from '../../src/domain/files/lock.ts'
import { useFileFixtures } from './file-fixtures.ts'

const { world, fixtures } = useFileFixtures()

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const deadCache = () =>
  Object.assign(world.services, {
    cache: new Proxy({} as never, { get: () => () => Promise.reject(new Error('The cache is away.')) }),
  })

describe('changes of the files of one server', () => {
  it('happen one after the other', async () => {
    let running = 0
    let most = 0
    await Promise.all(
      Array.from({ length: 12 }, () =>
        withFileLock(fixtures.panel(), fixtures.server, async () => {
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
    await world.services.cache.set(`files:${fixtures.server.uuid}`, 'another-request', 30)
    const delays: number[] = []
    const wait = globalThis.setTimeout
    const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation((done, delay = 0) => {
      // Longer timers are the timeouts of a driver's statements.
      if (delay > 1000) return wait(done, delay)
      delays.push(delay)
      return setImmediate(done) as never
    })
    const { status, body } = await fixtures.post('copy', { location: 'a' })
    timers.mockRestore()
    expect([status, body.errors[0].code]).toEqual([409, 'ConflictHttpException'])
    const waited = delays.reduce((sum, delay) => sum + delay, 0)
    expect(waited).toBeGreaterThanOrEqual(5000)
    expect(waited).toBeLessThan(5800)
    expect(fixtures.daemon.calls).toEqual([])
    expect(await world.services.cache.get(`files:${fixtures.server.uuid}`)).toBe('another-request')
    world.clock.advance(31)
    fixtures.tree.set('/a', 'x')
    expect((await fixtures.post('copy', { location: 'a' })).status).toBe(204)
  })

  it('on another server do not wait', async () => {
    const other = { uuid: crypto.randomUUID() }
    await withFileLock(fixtures.panel(), fixtures.server, async () => {
      expect(await withFileLock(fixtures.panel(), other, async () => 'done')).toBe('done')
    })
  })

  it('that fail let the next one in, and keep the lock while they renew it', async () => {
    await expect(
      withFileLock(fixtures.panel(), fixtures.server, () => Promise.reject(new Error('no'))),
    ).rejects.toThrow('no')
    await withFileLock(fixtures.panel(), fixtures.server, async (renew) => {
      for (let step = 0; step < 4; step += 1) {
        world.clock.advance(20)
        await renew()
      }
      expect(await world.services.cache.get(`files:${fixtures.server.uuid}`)).not.toBeNull()
    })
    expect(await world.services.cache.get(`files:${fixtures.server.uuid}`)).toBeNull()
  })

  it('whose lock has run out leave that of the next one alone', async () => {
    await withFileLock(fixtures.panel(), fixtures.server, async () => {
      world.clock.advance(31)
      await world.services.cache.add(`files:${fixtures.server.uuid}`, 'next', 30)
    })
    expect(await world.services.cache.get(`files:${fixtures.server.uuid}`)).toBe('next')
  })

  it('go on without the cache', async () => {
    deadCache()
    fixtures.tree.set('/a', 'x').set('/z', 'archive')
    expect((await fixtures.post('copy', { location: 'a' })).status).toBe(204)
    expect((await fixtures.post('decompress', { file: 'z' })).status).toBe(204)
    await refuseBusy(fixtures.panel(), fixtures.server)
  })
})

describe('long operations', () => {
  it('begin while no request changes files, and do not block other changes', async () => {
    const steps: string[] = []
    const short = withFileLock(fixtures.panel(), fixtures.server, async () => {
      await pause(60)
      steps.push('short')
    })
    const long = withBusyMark(fixtures.panel(), fixtures.server, 300, async () => {
      steps.push('long begins')
      await expect(refuseBusy(fixtures.panel(), fixtures.server)).rejects.toMatchObject({ status: 409 })
      await withFileLock(fixtures.panel(), fixtures.server, async () => void steps.push('another'))
      steps.push('long ends')
    })
    await Promise.all([short, long])
    expect(steps).toEqual(['short', 'long begins', 'another', 'long ends'])
    await refuseBusy(fixtures.panel(), fixtures.server)
  })

  it('stay marked when their outcome is unknown', async () => {
    const fail = (error: Error) =>
      withBusyMark(fixtures.panel(), fixtures.server, 300, () => Promise.reject(error)).catch(() => undefined)
    await fail(new DaemonError(500, 'no'))
    await fail(new DaemonError(null, 'not asked', { retryAfterSeconds: 5 }))
    await refuseBusy(fixtures.panel(), fixtures.server)
    await fail(new DaemonError(null, 'no answer'))
    await expect(refuseBusy(fixtures.panel(), fixtures.server)).rejects.toMatchObject({ status: 409 })
    world.clock.advance(301)
    await refuseBusy(fixtures.panel(), fixtures.server)
  })
})
