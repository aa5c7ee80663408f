import { beforeEach, describe, expect, it } from 'vitest'
import { circuitGuard, type Circuits } from '../../src/adapters/daemon-circuits.ts'
import { DaemonError } from '../../src/adapters/daemon-http.ts'

/** Milliseconds; a call of half of them waits in vain. The clock by which a circuit rests is turned by hand. */
const timeout = 40
let circuits: Circuits
let clock: number

beforeEach(() => {
  circuits = new Map()
  clock = 1_000_000
})

const guarded = (call: () => Promise<string>, { node = 'a', patient = false } = {}) =>
  circuitGuard(circuits, node, () => new Date(clock), timeout)(call, { patient })

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const answering = async () => 'answer'
const refusing = async (): Promise<string> => {
  throw new DaemonError(500, 'no')
}
const absent = async (): Promise<string> => {
  throw new DaemonError(null, 'connection refused')
}
const silent = async (): Promise<string> => {
  await wait(timeout)
  throw new DaemonError(null, 'timeout')
}

/** What became of a call: an answer, the daemon's status, `null` without one, or the seconds to wait. */
async function outcome(...input: Parameters<typeof guarded>): Promise<unknown> {
  try {
    return await guarded(...input)
  } catch (error) {
    const { status, retryAfter } = error as DaemonError
    return retryAfter === null ? status : `in ${retryAfter} s`
  }
}

describe('a circuit', () => {
  it('opens once a call has waited in vain, for that node alone', async () => {
    expect(await outcome(silent)).toBe(null)
    expect(await outcome(answering)).toBe('in 5 s')
    clock += 3_000
    expect(await outcome(answering)).toBe('in 2 s')
    expect(await outcome(answering, { node: 'b' })).toBe('answer')
  })

  it('lets one call probe after its rest and closes with the answer, be it a refusal', async () => {
    await outcome(silent)
    clock += 5_000
    const probe = outcome(async () => {
      await wait(10)
      return refusing()
    })
    expect(await outcome(answering)).toBe('in 5 s')
    expect(await probe).toBe(500)
    expect(await outcome(answering)).toBe('answer')
  })

  it('rests twice as long after each vain probe, half a minute at most', async () => {
    const rests: unknown[] = []
    for (const rest of [5, 10, 20, 30, 30]) {
      await outcome(silent)
      rests.push(await outcome(answering))
      clock += rest * 1_000
    }
    expect(rests).toEqual(['in 5 s', 'in 10 s', 'in 20 s', 'in 30 s', 'in 30 s'])
  })

  it('stays closed when the connection is refused at once, which costs nobody anything', async () => {
    for (let count = 0; count < 5; count += 1) expect(await outcome(absent)).toBe(null)
    await outcome(silent)
    clock += 5_000
    expect(await outcome(absent)).toBe(null)
    expect(await outcome(answering)).toBe('answer')
  })

  it('stays closed when others were answered while one call waited', async () => {
    const slow = outcome(silent)
    await wait(5)
    expect(await outcome(answering)).toBe('answer')
    expect(await slow).toBe(null)
    expect(await outcome(answering)).toBe('answer')
  })

  it('is not opened by those who let the daemon work as long as it takes', async () => {
    expect(await outcome(silent, { patient: true })).toBe(null)
    expect(await outcome(answering)).toBe('answer')
  })

  it('is no business of what is no failure of the daemon', async () => {
    const bug = async (): Promise<string> => {
      await wait(timeout)
      throw new TypeError('bug')
    }
    await expect(guarded(bug)).rejects.toThrow(TypeError)
    expect(await outcome(answering)).toBe('answer')
  })
})
