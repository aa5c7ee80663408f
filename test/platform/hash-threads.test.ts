import { scryptSync } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { scryptInThreads } from '../../src/platform/hash-threads.ts'

const salt = Buffer.from('0123456789abcdef')
const cost = { N: 1024, r: 8, p: 1 }
afterEach(() => vi.useRealTimers())

/** Returns the niceness of each thread of this process that is below the usual priority. */
const lowPriorities = () =>
  readdirSync('/proc/self/task')
    .map((thread) => readFileSync(`/proc/self/task/${thread}/stat`, 'latin1'))
    .map((stat) => Number(stat.slice(stat.lastIndexOf(')')).split(' ')[17]))
    .filter((niceness) => niceness > 0)

describe('threads that hash', () => {
  it('compute what scrypt computes, also of many at once', async () => {
    const scrypt = scryptInThreads()
    const passwords = Array.from({ length: 6 }, (_, at) => `hörse ${at}`)
    const hashes = await Promise.all(passwords.map((password) => scrypt(password, salt, 32, cost)))
    expect(hashes).toEqual(passwords.map((password) => scryptSync(password, salt, 32, cost)))
  })

  it('say what is wrong with a cost, and hash on', async () => {
    const scrypt = scryptInThreads()
    await expect(scrypt('horse', salt, 32, { ...cost, N: 1000 })).rejects.toThrow('Invalid scrypt param')
    expect(await scrypt('horse', salt, 32, cost)).toEqual(scryptSync('horse', salt, 32, cost))
  })

  it.runIf(process.platform === 'linux')('leave the processor to everything else, and end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const before = lowPriorities().length
    const scrypt = scryptInThreads()
    for (const password of ['one', 'two']) await scrypt(password, salt, 32, cost)
    expect(lowPriorities().slice(before)).toEqual([19])
    await vi.advanceTimersByTimeAsync(60_000)
    await vi.waitFor(() => expect(lowPriorities()).toHaveLength(before), { timeout: 30_000 })
    expect(await scrypt('three', salt, 32, cost)).toEqual(scryptSync('three', salt, 32, cost))
  })
})
