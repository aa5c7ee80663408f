import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatBytes, formatPercent } from '../../app/formats.ts'
import { useHasSideColumn } from '../../app/use-is-wide.ts'
import { useLive } from '../server-context.tsx'
import { StatTiles } from './stat-tiles.tsx'
import { UsageCharts } from './usage-charts.tsx'

const Usage = () => (
  <>
    <StatTiles />
    <UsageCharts />
  </>
)

/** The resource usage of the server: beside the console where there is room, else below it, folded. */
export function ConsoleUsage() {
  return useHasSideColumn() ? <UsageColumn /> : <FoldedUsage />
}

/** Scrolls by itself, so that it never makes the console higher than the window. */
function UsageColumn() {
  const { t } = useTranslation('console')
  return (
    <div className="relative w-72 shrink-0">
      <div
        role="region"
        aria-label={t('tiles')}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className="absolute inset-0 flex flex-col gap-2 overflow-y-auto"
      >
        <Usage />
      </div>
    </div>
  )
}

function FoldedUsage() {
  const { t } = useTranslation('console')
  const { stats } = useLive()
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="group" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="flex min-h-9 cursor-pointer list-none items-center gap-2 rounded-control text-sm text-muted hover:text-ink">
        <ChevronRight
          aria-hidden
          className="size-4 shrink-0 transition-transform group-open:rotate-90 rtl:not-group-open:rotate-180"
        />
        <span className="font-medium">{t('tiles')}</span>
        {stats && (
          <span className="ms-auto tabular-nums">
            {formatPercent(stats.cpu_absolute)} · {formatBytes(stats.memory_bytes)}
          </span>
        )}
      </summary>
      {isOpen && (
        <div className="flex flex-col gap-2 pt-2">
          <Usage />
        </div>
      )}
    </details>
  )
}
