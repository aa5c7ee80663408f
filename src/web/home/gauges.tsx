import { Cpu, HardDrive, MemoryStick } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { classNames } from '../components/class-names.ts'
import { levelOf } from '../components/meter.tsx'
import { StatusShape } from '../components/status-shape.tsx'
import type { ListedServer } from './listed-server.ts'
import { type UsageItem, usageOf, useUnavailableReason } from './usage.ts'

const icons = { cpu: Cpu, memory: MemoryStick, disk: HardDrive }

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
  const Icon = icons[name]
  const ratio = limit === null ? 0 : Math.min(1, value / limit)
  const level = levelOf(ratio)
  return (
    <div className="min-w-0" title={`${label}: ${text}`}>
      <div className="flex items-center gap-1.5 text-xs">
        <Icon aria-hidden className="size-3.5 shrink-0 text-muted" />
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
