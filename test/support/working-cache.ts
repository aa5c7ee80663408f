import { expect } from 'vitest'
import type { Cache } from '../../src/adapters/cache.ts'

/** Expects that a cache stores, adds, removes and counts. */
export async function expectWorkingCache(cache: Cache): Promise<void> {
  const key = crypto.randomUUID()
  expect(await cache.get(key)).toBeNull()
  await cache.set(key, { state: 'running' }, 60)
  expect(await cache.get(key)).toEqual({ state: 'running' })
  expect(await cache.add(key, 'other', 60)).toBe(false)
  await cache.remove(key)
  expect(await cache.add(key, 'other', 60)).toBe(true)
  expect(await cache.get(key)).toBe('other')
  const hits = await Promise.all(Array.from({ length: 20 }, () => cache.hit(`${key}-hits`, 60)))
  expect(hits.map(({ hits: count }) => count)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
  expect(hits.every(({ resetsInSeconds }) => resetsInSeconds > 50 && resetsInSeconds <= 60)).toBe(true)
  await cache.ping()
}
