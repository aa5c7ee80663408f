import { useEffect, useEffectEvent, useRef } from 'react'
import uPlot from 'uplot'
import { site } from '../../app/site.ts'
import { useIsDark } from '../../app/theme.ts'

/** `colour` is the name of a design token. */
/** How long a chart looks back, and how it names times. */
export type Period = {
  seconds: number
  formatTime: (milliseconds: number) => string
  /** Allowed distances of the times, in seconds. */
  timeSteps?: number[]
}
export type Curve = { name: string; colour: string; values: readonly (number | null)[] }
type Props = {
  label: string
  /** Seconds since 1970. */
  times: readonly number[]
  curves: readonly Curve[]
  /** The top of the scale while no value exceeds it. */
  scaleMax: number
  /** Allowed steps of the scale; powers of ten by default. */
  steps?: number[]
  format: (value: number) => string
  /** Describes a curve by its last and its greatest value; `last` is null while nothing is known. */
  words: (name: string, last: string | null, most: string) => string
  period?: Period
  /** In pixels. */
  height?: number
}

const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
const clock = new Intl.DateTimeFormat(site.locale, { timeStyle: 'short' })

const lastMinutes: Period = { seconds: 180, formatTime: (milliseconds) => clock.format(milliseconds) }

/** A chart of the last minutes, or of another period; its label describes the values in text. */
export function UsageChart({
  label,
  times,
  curves,
  scaleMax,
  steps,
  format,
  words,
  period = lastMinutes,
  height = 140,
}: Props) {
  const container = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const isDark = useIsDark()
  const createChart = useEffectEvent(
    (element: HTMLElement) =>
      new uPlot(
        optionsOf({ curves, scaleMax, steps, format, period, height }, element.clientWidth),
        [[]],
        element,
      ),
  )
  useEffect(() => {
    if (!container.current) return
    const chart = createChart(container.current)
    plot.current = chart
    const observer = new ResizeObserver(([entry]) => {
      if (entry) chart.setSize({ width: Math.floor(entry.contentRect.width), height })
    })
    observer.observe(container.current)
    return () => {
      observer.disconnect()
      chart.destroy()
      plot.current = null
    }
    // Colours are read when the chart is created, so another theme needs another chart.
  }, [isDark, height])
  useEffect(() => {
    plot.current?.setData([[...times], ...curves.map(({ values }) => [...values])])
  }, [times, curves, isDark])
  const sentences = curves.map(({ name, values }) => {
    const known = values.filter((value) => value !== null)
    const last = known.at(-1)
    return last === undefined ? words(name, null, '') : words(name, format(last), format(Math.max(...known)))
  })
  return (
    <div className="min-w-0">
      <div
        ref={container}
        role="img"
        aria-label={`${label}. ${sentences.join(' ')}`}
        style={{ height }}
        className="overflow-hidden"
      />
      <Legend curves={curves} format={format} />
    </div>
  )
}

function Legend({ curves, format }: Pick<Props, 'curves' | 'format'>) {
  return (
    <ul aria-hidden className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {curves.map(({ name, colour, values }) => (
        <li key={name} className="flex items-center gap-1.5">
          <span className="h-0.5 w-3 rounded-full" style={{ background: `var(${colour})` }} />
          {name}
          <span className="font-medium text-ink tabular-nums">{formatLast(values.at(-1), format)}</span>
        </li>
      ))}
    </ul>
  )
}

const formatLast = (value: number | null | undefined, format: Props['format']) =>
  value === null || value === undefined ? '–' : format(value)

function optionsOf(
  {
    curves,
    scaleMax,
    steps,
    format,
    period: { seconds, formatTime, timeSteps },
    height,
  }: Omit<Props, 'label' | 'times' | 'words'> & { period: Period; height: number },
  width: number,
): uPlot.Options {
  const axis = { stroke: token('--muted'), font: '11px sans-serif', ticks: { show: false } }
  const grid = { stroke: token('--line'), width: 1 }
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 20, 0, 0],
    scales: {
      x: { time: true, range: (_plot, _from, to) => [(to ?? 0) - seconds, to ?? 0] },
      y: { range: (_plot, _low, high) => [0, Math.max(scaleMax, high * 1.1, 1)] },
    },
    axes: [
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
        grid,
        size: 68,
        space: 36,
        values: (_plot, ticks) => ticks.map(format),
      },
    ],
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

/** Lists the values that have none before and after them. */
function isolatedIn(values: uPlot.AlignedData[number]): number[] {
  const isKnown = (at: number) => typeof values[at] === 'number'
  return [...values.keys()].filter((at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1))
}
