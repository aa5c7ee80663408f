import { afterEach, describe, expect, it, vi } from 'vitest'
import { batchCalls, type CacheCall, cacheOf } from '../../src/adapters/cache-batches.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Counts hits as a store does, and keeps what each statement asked for. */
function open() {
  const asked: CacheCall[][] = []
  const counts = new Map<string, number>()
  const ask = batchCalls(async (calls) => {
    asked.push(calls)
    return calls.map(({ key, count }) => {
      const hits = (counts.get(key) ?? 0) + count
      counts.set(key, hits)
      return { kind: 'hit', key, value: null, hits, remaining: 60 }
    })
  })
  const cache = cacheOf(ask, { encode: JSON.stringify, decode: () => null })
  return { asked, hit: async (key: string) => (await cache.hit(key, 60)).hits }
}

afterEach(() => void vi.useRealTimers())

describe('calls of a cache', () => {
  it('of one turn are one statement, in which equal ones are one', async () => {
    const { asked, hit } = open()
    expect(await Promise.all(['a', 'b', 'a', 'a'].map(hit))).toEqual([1, 1, 2, 3])
    expect(asked.map((calls) => calls.map(({ key, count }) => [key, count]))).toEqual([
      [
        ['a', 3],
        ['b', 1],
      ],
    ])
  })

  it('are asked for together while there are many, and each has a number of its own', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    const { asked, hit } = open()
    const hits: Promise<number>[] = []
    for (let n = 0; n < 40; n += 1) {
      hits.push(hit('a'))
      await turn()
      await turn()
    }
    // The first ones are not many yet; the others wait for the clock, which stands.
    expect(asked.length).toBeLessThanOrEqual(10)
    vi.advanceTimersByTime(3)
    expect(await Promise.all(hits)).toEqual(Array.from({ length: 40 }, (_, at) => at + 1))
    expect(asked.at(-1)?.[0]?.count).toBeGreaterThanOrEqual(30)
  })

  it('wait for no others where there are none', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    const { asked, hit } = open()
    for (let n = 1; n <= 30; n += 1) {
      const hits = hit('a')
      for (let turns = 0; turns < 3; turns += 1) await turn()
      vi.advanceTimersByTime(3)
      expect(await hits).toBe(n)
    }
    expect(asked).toHaveLength(30)
    // It has waited once; now it does not.
    const answered = hit('a')
    await turn()
    await turn()
    expect(await answered).toBe(31)
  })

  it('wait for none that are not there', async () => {
    const { asked, hit } = open()
    for (let n = 1; n <= 5; n += 1) expect(await hit('a')).toBe(n)
    expect(asked).toHaveLength(5)
  })
})
