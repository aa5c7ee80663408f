import { type Curve, describeCurves } from '../usage/curves.ts'

type Props = {
  label: string
  /** Seconds since 1970. */
  times: readonly number[]
  curves: readonly Curve[]
  /** The top of the scale while no value exceeds it. */
  scaleMax: number
  format: (value: number) => string
  words: (name: string, last: string | null, most: string) => string
}

/** How far it looks back. */
const shownSeconds = 180
const [width, height] = [180, 60]

/** A small chart of the last minutes; its label describes the values in text. It needs no library, as it is there at once. */
export function LiveChart({ label, times, curves, scaleMax, format, words }: Props) {
  const known = curves.flatMap(({ values }) => values.filter((value) => value !== null))
  const top = Math.max(scaleMax, 1, ...known.map((value) => value * 1.1))
  const end = times.at(-1) ?? 0
  return (
    <div>
      <div className="relative">
        <svg
          role="img"
          aria-label={`${label}. ${describeCurves(curves, format, words)}`}
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          className="block h-16 w-full overflow-hidden border-b border-line"
        >
          {curves.map(({ name, colour, values }) => (
            <path
              key={name}
              d={pathOf(times, values, { end, top })}
              fill="none"
              strokeWidth={1.75}
              strokeLinejoin="round"
              strokeLinecap="round"
              vectorEffect="non-scaling-stroke"
              style={{ stroke: `var(${colour})` }}
            />
          ))}
        </svg>
        <span aria-hidden className="absolute top-0 right-0 text-[0.6875rem] text-muted tabular-nums">
          {format(top)}
        </span>
      </div>
      <ul aria-hidden className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
        {curves.map(({ name, colour, values }) => (
          <li key={name} className="flex items-center gap-1.5">
            <span className="h-0.5 w-3 rounded-full" style={{ background: `var(${colour})` }} />
            {name}
            <span className="font-medium text-ink tabular-nums">{lastOf(values, format)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Returns the path of a curve, interrupted wherever a value is unknown. */
function pathOf(
  times: readonly number[],
  values: readonly (number | null)[],
  { end, top }: { end: number; top: number },
): string {
  let command = 'M'
  let path = ''
  for (const [index, time] of times.entries()) {
    const value = values[index] ?? null
    const x = width - ((end - time) / shownSeconds) * width
    if (value !== null && x >= 0)
      path += `${command}${x.toFixed(1)} ${(height - (value / top) * height).toFixed(1)}`
    command = value === null || x < 0 ? 'M' : 'L'
  }
  return path
}

const lastOf = (values: readonly (number | null)[], format: (value: number) => string): string => {
  const last = values.at(-1) ?? null
  return last === null ? '–' : format(last)
}
