/** Stored usage: points at most `step_seconds` apart where there is a sample in each step. */
export type StoredPoints<Point extends { at: string }> = { step_seconds: number; points: Point[] }

/** Times in seconds since 1970, each with its point; null between two that have no samples between them. */
export type Timeline<Point> = { times: number[]; points: (Point | null)[] }

/** Puts points in line up to now, with a break wherever twice the usual distance passed without a sample. */
export function timelineOf<Point extends { at: string }>(
  { step_seconds: step, points }: StoredPoints<Point>,
  now: number,
): Timeline<Point> {
  const timed = points.map((point) => ({ at: Date.parse(point.at) / 1000, point }))
  const gap = maxDistance(
    timed.map(({ at }) => at),
    step,
  )
  const line: Timeline<Point> = { times: [], points: [] }
  const add = (at: number, point: Point | null) => {
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

/** Samples can be rarer than steps: a break is twice the distance that two of them have at least. */
function maxDistance(times: number[], step: number): number {
  const distances = times.slice(1).map((at, index) => at - (times[index] ?? at))
  const usual = distances.length === 0 ? step : Math.max(step, Math.min(...distances))
  return 2 * usual
}

/** Appends what came since: `live` is newer than the line, and has null where it breaks. */
export function withLive<Point extends { at: string }>(
  line: Timeline<Point>,
  live: readonly { at: number; point: Point | null }[],
): Timeline<Point> {
  const last = line.times.at(-1) ?? Number.NEGATIVE_INFINITY
  const newer = live.filter(({ at }) => at > last)
  if (newer.length === 0) return line
  return {
    times: [...line.times, ...newer.map(({ at }) => at)],
    points: [...line.points, ...newer.map(({ point }) => point)],
  }
}
