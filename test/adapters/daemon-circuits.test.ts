import { beforeEach, describe, expect, it, vi } from 'vitest'
import { circuitBreaker, type CircuitBreakers } from '../../src/adapters/daemon-circuit-breaker.ts'
import { DaemonError } from '../../src/adapters/daemon-error.ts'

/** In milliseconds; a call of half of it times out. Both clocks are set by the test. */
const timeout = 40
let circuits: CircuitBreakers
let clock: number
let elapsed: number

beforeEach(() => {
  circuits = new Map()
  clock = 1_000_000
  elapsed = 0
  vi.spyOn(performance, 'now').mockImplementation(() => elapsed)
})

const guarded = (call: () => Promise<string>, { node = 'a', hasOwnTimeout = false } = {}) =>
  circuitBreaker(circuits, node, () => new Date(clock), timeout)(call, { hasOwnTimeout: hasOwnTimeout })

const answering = async () => 'answer'
const refusing = async (): Promise<string> => {
  throw new DaemonError(500, 'no')
}
const absent = async (): Promise<string> => {
  throw new DaemonError(null, 'connection refused')
}
const silent = async (): Promise<string> => {
  elapsed += timeout
  throw new DaemonError(null, 'timeout')
}

/** Returns the outcome of a call: a response, the daemon's status, `null` without one, or the seconds to wait. */
async function outcome(...input: Parameters<typeof guarded>): Promise<unknown> {
  try {
    return await guarded(...input)
  } catch (error) {
    const { status, retryAfterSeconds: retryAfter } = error as DaemonError
    return retryAfter === null ? status : `in ${retryAfter} s`
  }
}

describe('a circuit', () => {
  it('opens after a call timed out, for that node only', async () => {
    expect(await outcome(silent)).toBe(null)
    expect(await outcome(answering)).toBe('in 5 s')
    clock += 3_000
    expect(await outcome(answering)).toBe('in 2 s')
    expect(await outcome(answering, { node: 'b' })).toBe('answer')
  })

  it('lets one call through after its cooldown and closes with any response, even an error', async () => {
    await outcome(silent)
    clock += 5_000
    const underWay = Promise.withResolvers<void>()
    const probe = outcome(async () => {
      await underWay.promise
      return refusing()
    })
    expect(await outcome(answering)).toBe('in 5 s')
    underWay.resolve()
    expect(await probe).toBe(500)
    expect(await outcome(answering)).toBe('answer')
  })

  it('doubles its cooldown after each failed probe, up to 30 seconds', async () => {
    const rests: unknown[] = []
    for (const rest of [5, 10, 20, 30, 30]) {
      await outcome(silent)
      rests.push(await outcome(answering))
      clock += rest * 1_000
    }
    expect(rests).toEqual(['in 5 s', 'in 10 s', 'in 20 s', 'in 30 s', 'in 30 s'])
  })

  it('stays closed when the connection is refused at once', async () => {
    for (let count = 0; count < 5; count += 1) expect(await outcome(absent)).toBe(null)
    await outcome(silent)
    clock += 5_000
    expect(await outcome(absent)).toBe(null)
    expect(await outcome(answering)).toBe('answer')
  })

  it('stays closed when others were answered while one call waited', async () => {
    const underWay = Promise.withResolvers<void>()
    const slow = outcome(async () => {
      await underWay.promise
      return silent()
    })
    elapsed += 5
    clock += 5
    expect(await outcome(answering)).toBe('answer')
    underWay.resolve()
    expect(await slow).toBe(null)
    expect(await outcome(answering)).toBe('answer')
  })

  it('is not opened by calls without a time limit', async () => {
    expect(await outcome(silent, { hasOwnTimeout: true })).toBe(null)
    expect(await outcome(answering)).toBe('answer')
  })

  it('ignores errors that are not failures of the daemon', async () => {
    const bug = async (): Promise<string> => {
      elapsed += timeout
      throw new TypeError('bug')
    }
    await expect(guarded(bug)).rejects.toThrow(TypeError)
    expect(await outcome(answering)).toBe('answer')
  })
})
