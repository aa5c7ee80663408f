import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createPowerLock } from '../../src/dev/daemon/power-lock.ts'

/** Holds the lock until `release` is called. */
function hold(lock: ReturnType<typeof createPowerLock>) {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { held: lock.run(0, () => promise), release: resolve }
}

describe('the power lock', () => {
  it('is held while its work runs, and free after a failure', async () => {
    const lock = createPowerLock()
    const { held, release } = hold(lock)
    expect(lock.isHeld()).toBe(true)
    release()
    expect(await held).toBe(true)
    const failed = lock.run(0, async () => {
      throw new Error('the work failed')
    })
    await expect(failed).rejects.toThrow('the work failed')
    await setImmediate()
    expect(lock.isHeld()).toBe(false)
  })

  it('refuses at once without a wait, and after the wait', async () => {
    const lock = createPowerLock()
    const { held, release } = hold(lock)
    let runs = 0
    const count = async () => void (runs += 1)
    expect(await lock.run(0, count)).toBe(false)
    expect(await lock.run(10, count)).toBe(false)
    release()
    await held
    await setImmediate()
    expect([runs, lock.isHeld()]).toEqual([0, false])
  })

  it('serves calls that wait in order', async () => {
    const lock = createPowerLock()
    const { release } = hold(lock)
    const order: number[] = []
    const waiting = [1, 2, 3].map((number) => lock.run(10_000, async () => void order.push(number)))
    release()
    expect(await Promise.all(waiting)).toEqual([true, true, true])
    expect(order).toEqual([1, 2, 3])
  })
})
