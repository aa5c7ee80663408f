import { describe, expect, it } from 'vitest'
import { batchCalls, type CacheCall, hitOf } from '../../src/adapters/cache-batches.ts'

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
  const hit = async (key: string) =>
    hitOf(await ask({ kind: 'hit', key, json: null, seconds: 60, count: 1 })).hits
  return { asked, hit }
}

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

  it('are fewer statements than turns while there are many, and each has a number of its own', async () => {
    const { asked, hit } = open()
    const hits: Promise<number>[] = []
    for (let n = 0; n < 300; n += 1) {
      hits.push(hit('a'))
      await turn()
    }
    expect(await Promise.all(hits)).toEqual(Array.from({ length: 300 }, (_, at) => at + 1))
    expect(asked.length).toBeLessThan(100)
  })

  it('wait for none that are not there', async () => {
    const { asked, hit } = open()
    for (let n = 1; n <= 5; n += 1) expect(await hit('a')).toBe(n)
    expect(asked).toHaveLength(5)
  })
})
