import { classNames } from './class-names.ts'
import { StatusShape } from './status-shape.tsx'

/** What is nearly full shows it by a shape and a colour. */
const levels = [
  { above: 0.95, shape: 'triangle', text: 'text-bad', bar: 'bg-bad' },
  { above: 0.8, shape: 'diamond', text: 'text-warn', bar: 'bg-warn' },
] as const

/** Returns how what is nearly full shows it; undefined for what is not. */
export const levelOf = (ratio: number) => levels.find(({ above }) => ratio > above)

/** Shows how much of a limit is used. Without a limit (null or 0) there is no bar. */
export function Meter({
  label,
  value,
  limit,
  text,
  hideLabel = false,
}: {
  label: string
  value: number
  limit: number | null
  text: string
  /** Where what stands around it says what it is. */
  hideLabel?: boolean
}) {
  const ratio = limit ? Math.min(1, value / limit) : null
  const level = levelOf(ratio ?? 0)
  return (
    <div className="min-w-0">
      <div className="flex items-baseline justify-between gap-2 text-xs">
        {!hideLabel && <span className="text-muted">{label}</span>}
        <span className="flex min-w-0 items-center gap-1.5 font-medium tabular-nums">
          {level && <StatusShape key={level.shape} shape={level.shape} className={level.text} />}
          <span className="truncate">{text}</span>
        </span>
      </div>
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round((ratio ?? 0) * 100)}
        aria-valuetext={text}
        className="mt-1 h-1.5 overflow-hidden rounded-full bg-raised"
      >
        {ratio !== null && <Bar ratio={ratio} className={level?.bar ?? 'bg-brand'} />}
      </div>
    </div>
  )
}

const Bar = ({ ratio, className }: { ratio: number; className: string }) => (
  <div
    style={{ width: `${ratio * 100}%` }}
    className={classNames('h-full rounded-full transition-[width]', className)}
  />
)

/** A progress bar from 0 to 1; indeterminate while `ratio` is null. */
export function Progress({ label, ratio }: { label: string; ratio: number | null }) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(ratio === null ? {} : { 'aria-valuenow': Math.round(ratio * 100) })}
      className="h-1.5 w-full overflow-hidden rounded-full bg-raised"
    >
      <Bar ratio={ratio ?? 1} className={classNames('bg-brand', ratio === null && 'animate-pulse')} />
    </div>
  )
}
