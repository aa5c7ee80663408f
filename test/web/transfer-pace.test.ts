import { describe, expect, it } from 'vitest'
import { createPace } from '../../src/web/server/files/transfer-pace.ts'

describe('the speed of transfers', () => {
  it('is that of the last seconds', () => {
    const pace = createPace()
    for (let second = 0; second <= 20; second += 1) pace.add(second < 10 ? 1000 : 5000, second * 1000)
    expect(pace.bytesPerSecond(20_000)).toBe(5000)
  })

  it('falls while nothing is sent, until nothing is known', () => {
    const pace = createPace()
    pace.add(1000, 0)
    pace.add(4000, 1000)
    expect(pace.bytesPerSecond(1000)).toBe(4000)
    expect(pace.bytesPerSecond(4000)).toBe(1000)
    expect(pace.bytesPerSecond(60_000)).toBeNull()
  })

  it('is unknown at first', () => {
    const pace = createPace()
    expect(pace.bytesPerSecond(0)).toBeNull()
    pace.add(1000, 0)
    expect(pace.bytesPerSecond(500)).toBeNull()
    pace.add(-5, 2000)
    expect(pace.bytesPerSecond(2000)).toBeNull()
  })
})
