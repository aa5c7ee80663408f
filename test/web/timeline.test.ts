import { describe, expect, it } from 'vitest'
import { timelineOf, withLive } from '../../src/web/server/usage/timeline.ts'

const start = Date.parse('2026-11-01T12:00:00Z') / 1000

const statistics = (step: number, seconds: number[]) => ({
  step_seconds: step,
  points: seconds.map((after) => ({ at: new Date((start + after) * 1000).toISOString() })),
})

/** Returns the seconds after the start, and whether something is known of them. */
const lineOf = (step: number, seconds: number[], now: number) => {
  const { times, points } = timelineOf(statistics(step, seconds), start + now)
  return times.map((time, at) => [time - start, points[at] !== null])
}

describe('the timeline of usage', () => {
  it('has no break where samples follow each other', () => {
    expect(lineOf(60, [0, 60, 120], 150)).toEqual([
      [0, true],
      [60, true],
      [120, true],
    ])
  })

  it('breaks where steps have no sample, and at its end', () => {
    expect(lineOf(60, [0, 60, 600], 900)).toEqual([
      [0, true],
      [60, true],
      [120, false],
      [600, true],
      [900, false],
    ])
  })

  it('does not break between samples that are regularly rarer than the steps', () => {
    expect(lineOf(60, [0, 300, 600], 700)).toEqual([
      [0, true],
      [300, true],
      [600, true],
    ])
  })

  it('has one point alone, and a break up to now', () => {
    expect(lineOf(60, [0], 30)).toEqual([[0, true]])
    expect(lineOf(60, [0], 600)).toEqual([
      [0, true],
      [600, false],
    ])
  })

  it('is empty without samples', () => {
    expect(lineOf(60, [], 600)).toEqual([])
  })

  it('goes on with what came since, and keeps its breaks', () => {
    const line = timelineOf(statistics(60, [0, 60]), start + 60)
    const point = { at: '' }
    const live = [
      { at: start + 50, point },
      { at: start + 70, point },
      { at: start + 80, point: null },
    ]
    const { times, points } = withLive(line, live)
    expect(times.map((time) => time - start)).toEqual([0, 60, 70, 80])
    expect(points.map((each) => each !== null)).toEqual([true, true, true, false])
    expect(withLive(line, [])).toBe(line)
  })
})
