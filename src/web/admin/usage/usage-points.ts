import type { NodeStatistics, ServerStatistics } from '../resources.ts'

/** What nodes and servers have in common, and what only nodes have. */
export type UsagePoint = Omit<NodeStatistics['points'][number], 'running_servers'> & {
  running_servers?: number
}
export type Statistics = Omit<NodeStatistics | ServerStatistics, 'points'> & { points: UsagePoint[] }

/** Times in seconds since 1970, each with its point; null between two that have no samples between them. */
export type Timeline = { times: number[]; points: (UsagePoint | null)[] }

/** Puts points in line up to now, with a break wherever twice the usual distance passed without a sample. */
export function timelineOf({ step_seconds: step, points }: Statistics, now: number): Timeline {
  const timed = points.map((point) => ({ at: Date.parse(point.at) / 1000, point }))
  const distances = timed.slice(1).map(({ at }, index) => at - (timed[index]?.at ?? at))
  const usual = distances.length === 0 ? step : Math.max(step, Math.min(...distances))
  const gap = 2 * usual
  const line: Timeline = { times: [], points: [] }
  const add = (at: number, point: UsagePoint | null) => {
    line.times.push(at)
    line.points.push(point)
  }
  let last: number | null = null
  for (const { at, point } of timed) {
    if (last !== null && at - last > gap) add(last + step, null)
    add(at, point)
    last = at
  }
  if (last !== null && now - last > gap) add(now, null)
  return line
}
