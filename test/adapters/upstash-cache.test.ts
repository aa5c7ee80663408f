import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { withCooldown } from '../../src/adapters/cache-cooldown.ts'
import { upstashCache } from '../../src/adapters/upstash-cache.ts'
import { startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'

let redis: StubDaemon

beforeEach(async () => {
  redis = await startStubDaemon()
})
afterEach(() => redis.close())

const open = () => upstashCache(`http://127.0.0.1:${redis.port}`, 'token')

describe('a cache that does not answer', () => {
  it('is skipped for five seconds, then called again', async () => {
    redis.respond({ hang: true })
    const cache = open()
    await expect(cache.get('a')).rejects.toThrow(/timeout/i)
    const tried = redis.calls.length
    expect(tried).toBeGreaterThan(0)
    await expect(cache.get('a')).rejects.toThrow('has not answered lately')
    await expect(cache.hit('a', 60)).rejects.toThrow('has not answered lately')
    expect(redis.calls).toHaveLength(tried)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5_001 })
    redis.respond({ json: [{ result: btoa('here') }] })
    expect(await cache.get('a')).toBe('here')
    expect(redis.calls).toHaveLength(tried + 1)
  })

  it('is still called by the health check', async () => {
    redis.respond({ hang: true })
    const cache = open()
    await expect(cache.get('a')).rejects.toThrow(/timeout/i)
    const tried = redis.calls.length
    await expect(cache.ping()).rejects.toThrow(/timeout/i)
    expect(redis.calls.length).toBeGreaterThan(tried)
  })
})

describe('a call that fails', () => {
  afterEach(() => void vi.useRealTimers())

  it.each([
    ['some milliseconds early, as a timer does', 195, 'has not answered lately'],
    ['long before its timeout', 100, 'failed'],
  ])('%s', async (_when, milliseconds, next) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const guarded = withCooldown(200)
    const fail = async () => {
      vi.advanceTimersByTime(milliseconds)
      throw new Error('failed')
    }
    await expect(guarded(fail)).rejects.toThrow('failed')
    await expect(guarded(fail)).rejects.toThrow(next)
  })
})

describe('a cache that refuses', () => {
  it('is called each time, because a refusal costs no time', async () => {
    redis.respond({ status: 400, json: { error: 'no' } })
    const cache = open()
    await expect(cache.get('a')).rejects.toThrow('no')
    redis.respond({ json: [{ result: btoa('here') }] })
    expect(await cache.get('a')).toBe('here')
  })
})
