import { type KeyboardEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import uPlot from 'uplot'
import { useIsDark } from '../../app/theme.ts'
import type { Mark } from './chart-drawing.ts'
import { type Limit, optionsOf, type Period } from './chart-options.ts'
import { type Curve, describeCurves } from './curves.ts'

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
  period: Period
  /** In pixels. */
  height?: number
  limit?: Limit | undefined
  marks?: readonly Mark[]
  syncKey?: string
}

const noMarks: readonly Mark[] = []

/** A chart of a period; its label describes the values in text. */
export function UsageChart(props: Props) {
  const { label, times, curves, format, words, period, height = 140, limit } = props
  const [point, setPoint] = useState<number | null>(null)
  const { container, showPoint } = usePlot({ ...props, height }, setPoint)
  const at = point === null || point >= times.length ? null : point
  const timeOf = (index: number) =>
    (period.formatPoint ?? period.formatTime)((times[index] ?? Number.NaN) * 1000)
  const currentValue = ({ values }: Curve) => values.at(at ?? -1) ?? null
  return (
    <div className="min-w-0">
      <div
        ref={container}
        role="slider"
        tabIndex={0}
        aria-label={`${label}. ${describeCurves(curves, format, words)}`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, times.length - 1)}
        aria-valuenow={at ?? Math.max(0, times.length - 1)}
        aria-valuetext={
          times.length === 0
            ? '–'
            : [
                timeOf(at ?? times.length - 1),
                ...curves.map((curve) => `${curve.name} ${formatKnown(currentValue(curve), format)}`),
              ].join(', ')
        }
        onKeyDown={(event) => onArrow(event, at ?? times.length, times.length, showPoint)}
        onBlur={() => showPoint(null)}
        style={{ height }}
        className="overflow-hidden rounded-control"
      />
      <Legend
        curves={curves}
        format={format}
        currentValue={currentValue}
        limit={limit}
        time={at === null ? null : timeOf(at)}
      />
    </div>
  )
}

/** Moves from point to point; `from` is one beyond the last point while none is chosen. */
function onArrow(event: KeyboardEvent, from: number, count: number, show: (index: number) => void): void {
  const targets: Partial<Record<string, number>> = {
    ArrowLeft: from - 1,
    ArrowRight: from + 1,
    Home: 0,
    End: count - 1,
  }
  const target = targets[event.key]
  if (target === undefined || count === 0) return
  event.preventDefault()
  show(Math.min(count - 1, Math.max(0, target)))
}

/** Draws the chart into the container. */
function usePlot(props: Props & { height: number }, onPoint: (index: number | null) => void) {
  const { times, curves, height, marks = noMarks } = props
  const container = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const shownMarks = useRef(marks)
  const isDark = useIsDark()
  const createChart = useEffectEvent(
    (element: HTMLElement) =>
      new uPlot(
        optionsOf({ ...props, width: element.clientWidth, marks: () => shownMarks.current, onPoint }),
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
    shownMarks.current = marks
    plot.current?.setData([[...times], ...curves.map(({ values }) => [...values])])
  }, [times, curves, marks, isDark])
  const showPoint = (index: number | null) => {
    const time = index === null ? undefined : times[index]
    const left = time === undefined ? -10 : (plot.current?.valToPos(time, 'x') ?? -10)
    plot.current?.setCursor({ left, top: time === undefined ? -10 : 0 })
  }
  return { container, showPoint }
}

function Legend({
  curves,
  format,
  currentValue,
  limit,
  time,
}: Pick<Props, 'curves' | 'format' | 'limit'> & {
  currentValue: (curve: Curve) => number | null
  time: string | null
}) {
  return (
    <ul aria-hidden className="mt-2 flex min-h-4 flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {curves.map((curve) => (
        <li key={curve.name} className="flex items-center gap-1.5">
          <span className="h-0.5 w-3 rounded-full" style={{ background: `var(${curve.colour})` }} />
          {curve.name}
          <span className="font-medium text-ink tabular-nums">
            {formatKnown(currentValue(curve), format)}
          </span>
        </li>
      ))}
      {limit && (
        <li className="flex items-center gap-1.5">
          <span className="w-3 border-t border-dashed border-bad" />
          {limit.name}
          <span className="font-medium text-ink tabular-nums">{format(limit.value)}</span>
        </li>
      )}
      {time && <li className="ms-auto text-ink tabular-nums">{time}</li>}
    </ul>
  )
}

const formatKnown = (value: number | null, format: Props['format']) => (value === null ? '–' : format(value))
