import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { minuteOf, onEachMinute } from '../../src/platform/minute-timer.ts'

let ticks: string[]
let minutes: number[]
let stop: () => void
beforeEach(() => {
  ticks = []
  minutes = []
  vi.useFakeTimers()
  vi.setSystemTime('2026-11-22T10:00:17.300Z')
  stop = onEachMinute((minute) => {
    ticks.push(new Date().toISOString())
    minutes.push(minute)
  })
})
afterEach(() => {
  stop()
  vi.useRealTimers()
})

it('the minute tick is aligned to the wall-clock minute', () => {
  vi.advanceTimersByTime(3 * 60_000)
  expect(ticks).toEqual(['01', '02', '03'].map((minute) => `2026-11-22T10:${minute}:00.000Z`))
})

it('the minute tick waits for its minute when its timer fires a little early', () => {
  vi.advanceTimersByTime(42_699)
  vi.setSystemTime('2026-11-22T10:00:59.998Z')
  vi.advanceTimersByTime(1)
  expect(ticks).toEqual([])
  vi.advanceTimersByTime(60_001)
  expect(ticks).toEqual(['2026-11-22T10:01:00.000Z', '2026-11-22T10:02:00.000Z'])
  const first = minuteOf(Date.parse('2026-11-22T10:01:00Z'))
  expect(minutes).toEqual([first, first + 1])
})

it('the minute tick is aligned again after the clock was set', () => {
  vi.setSystemTime('2026-11-22T12:30:40.000Z')
  vi.advanceTimersByTime(42_700)
  vi.advanceTimersByTime(60_000)
  expect(ticks).toEqual(['2026-11-22T12:31:22.700Z', '2026-11-22T12:32:00.000Z'])
})

it('the minute tick stops', () => {
  stop()
  vi.advanceTimersByTime(120_000)
  expect(ticks).toEqual([])
})
