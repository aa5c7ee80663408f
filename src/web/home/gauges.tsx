import { useTranslation } from '../app/use-translation.ts'
import { classNames } from '../components/class-names.ts'
import { levelOf } from '../components/meter.tsx'
import { StatusShape } from '../components/status-shape.tsx'
import type { ListedServer } from './listed-server.ts'
import { type UsageItem, usageOf, useUnavailableReason } from './usage.ts'

/** Drawings in a square of 24, of one path each: a long list has hundreds of them. */
const drawings = {
  cpu: 'M8 5h8a3 3 0 0 1 3 3v8a3 3 0 0 1-3 3H8a3 3 0 0 1-3-3V8a3 3 0 0 1 3-3zM9.5 9.5h5v5h-5zM9 2v3M15 2v3M9 19v3M15 19v3M2 9h3M2 15h3M19 9h3M19 15h3',
  memory:
    'M4 6h16a2 2 0 0 1 2 2v8H2V8a2 2 0 0 1 2-2zM2 16v3h4v-3M10 16v3h4v-3M18 16v3h4v-3M7 9.5v3M12 9.5v3M17 9.5v3',
  disk: 'M6 5h12l4 7v5a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2v-5zM2 12h20M6 15.5h.01M10 15.5h.01',
}

/** Shows CPU, memory and disk of a server side by side, or why they are not known, in the same height. */
export function Gauges({ listed, className }: { listed: ListedServer; className?: string }) {
  const { t } = useTranslation()
  const reason = useUnavailableReason(listed)
  if (reason !== null)
    return (
      <p className={classNames('flex min-h-8 items-center text-sm text-muted', className)}>
        <span className="line-clamp-2">{reason}</span>
      </p>
    )
  return (
    <div className={classNames('grid min-h-8 grid-cols-3 items-center gap-2 lg:gap-3', className)}>
      {usageOf(listed).map((item) => (
        <Gauge key={item.name} item={item} label={t(`resource.${item.name}`)} />
      ))}
    </div>
  )
}

function Gauge({ item: { name, value, limit, short, text }, label }: { item: UsageItem; label: string }) {
  const ratio = limit === null ? 0 : Math.min(1, value / limit)
  const level = levelOf(ratio)
  return (
    <div className="min-w-0" title={`${label}: ${text}`}>
      <div className="flex items-center gap-1.5 text-xs">
        <svg
          aria-hidden
          viewBox="0 0 24 24"
          fill="none"
          stroke="currentColor"
          strokeWidth="2"
          strokeLinecap="round"
          strokeLinejoin="round"
          className="size-3.5 shrink-0 text-muted"
        >
          <path d={drawings[name]} />
        </svg>
        <span className="truncate font-medium tabular-nums">{short}</span>
        {level && <StatusShape key={level.shape} shape={level.shape} className={level.text} />}
      </div>
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(ratio * 100)}
        aria-valuetext={text}
        className="mt-1 h-1 overflow-hidden rounded-full bg-raised"
      >
        <div
          style={{ width: `${ratio * 100}%` }}
          className={classNames('h-full rounded-full transition-[width]', level?.bar ?? 'bg-brand')}
        />
      </div>
    </div>
  )
}
