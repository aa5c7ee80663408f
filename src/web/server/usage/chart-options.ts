import type uPlot from 'uplot'
import { drawLimit, drawMarks, type Mark, token } from './chart-drawing.ts'
import type { Curve } from './curves.ts'

export type Limit = { name: string; value: number }

/** How long a chart looks back, and how it names times. */
export type Period = {
  seconds: number
  formatTime: (milliseconds: number) => string
  /** Names the time of a point; like `formatTime` when left out. */
  formatPoint?: (milliseconds: number) => string
  /** Allowed distances of the times, in seconds. */
  timeSteps?: number[]
}

type ChartOptions = {
  curves: readonly Curve[]
  scaleMax: number
  steps?: number[] | undefined
  format: (value: number) => string
  period: Period
  height: number
  width: number
  limit?: Limit | undefined
  /** Read whenever the chart is drawn. */
  marks: () => readonly Mark[]
  /** Called with the position of the point under the pointer; null when it has left. */
  onPoint: (index: number | null) => void
  /** Charts with the same key share their pointer. */
  syncKey?: string | undefined
}

/** Returns the options of a chart. */
export function optionsOf(options: ChartOptions): uPlot.Options {
  const { curves, scaleMax, period, height, width, limit, marks, onPoint, syncKey } = options
  const max = limit ? Math.max(scaleMax, limit.value * 1.08) : scaleMax
  return {
    width,
    height,
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false, setScale: false },
      points: { size: 7 },
      ...(syncKey ? { sync: { key: syncKey, scales: ['x', null] } } : {}),
    },
    padding: [8, 20, 0, 0],
    scales: {
      x: { time: true, range: (_plot, _from, to) => [(to ?? 0) - period.seconds, to ?? 0] },
      y: { range: (_plot, _low, high) => [0, Math.max(max, high * 1.1, 1)] },
    },
    axes: axesOf(options),
    hooks: {
      draw: [
        (plot) => drawMarks(plot, marks()),
        ...(limit ? [(plot: uPlot) => drawLimit(plot, limit.value)] : []),
      ],
      setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)],
    },
    series: [
      {},
      ...curves.map(({ name, colour }) => ({
        label: name,
        stroke: token(colour),
        width: 1.75,
        // A line shows nothing of a value between two gaps.
        points: { size: 3, filter: (plot: uPlot, at: number) => isolatedIn(plot.data[at] ?? []) },
      })),
    ],
  }
}

function axesOf({ steps, format, period: { formatTime, timeSteps } }: ChartOptions): uPlot.Axis[] {
  const axis = { stroke: token('--muted'), font: '11px sans-serif', ticks: { show: false } }
  return [
    {
      ...axis,
      grid: { show: false },
      gap: 8,
      size: 30,
      space: 52,
      ...(timeSteps ? { incrs: timeSteps } : {}),
      values: (_plot, ticks) => ticks.map((tick) => formatTime(tick * 1000)),
    },
    {
      ...axis,
      ...(steps ? { incrs: steps } : {}),
      grid: { stroke: token('--line'), width: 1 },
      size: 68,
      space: 36,
      values: (_plot, ticks) => ticks.map(format),
    },
  ]
}

/** Lists the values that have none before and after them. */
function isolatedIn(values: uPlot.AlignedData[number]): number[] {
  const isKnown = (at: number) => typeof values[at] === 'number'
  return [...values.keys()].filter((at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1))
}
