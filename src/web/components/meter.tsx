import { classNames } from './class-names.ts'

/** How much of something is used. `limit` null or 0 stands for no limit: then there is no bar. */
export function Meter({
  label,
  value,
  limit,
  text,
}: {
  label: string
  value: number
  limit: number | null
  text: string
}) {
  const share = limit ? Math.min(1, value / limit) : null
  const tone =
    share !== null && share > 0.95 ? 'bg-bad' : share !== null && share > 0.8 ? 'bg-warn' : 'bg-brand'
  return (
    <div className="min-w-0">
      <div className="flex items-baseline justify-between gap-2 text-xs">
        <span className="text-muted">{label}</span>
        <span className="truncate font-medium tabular-nums">{text}</span>
      </div>
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round((share ?? 0) * 100)}
        aria-valuetext={text}
        className="mt-1 h-1.5 overflow-hidden rounded-full bg-raised"
      >
        {share !== null && <Bar share={share} className={tone} />}
      </div>
    </div>
  )
}

const Bar = ({ share, className }: { share: number; className: string }) => (
  <div
    style={{ width: `${share * 100}%` }}
    className={classNames('h-full rounded-full transition-[width]', className)}
  />
)

/** How far something has come, 0 to 1; null while nobody knows. */
export function Progress({ label, share }: { label: string; share: number | null }) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(share === null ? {} : { 'aria-valuenow': Math.round(share * 100) })}
      className="h-1.5 w-full overflow-hidden rounded-full bg-raised"
    >
      <Bar share={share ?? 1} className={classNames('bg-brand', share === null && 'animate-pulse')} />
    </div>
  )
}
