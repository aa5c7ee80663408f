import { useTranslation } from '../../app/use-translation.ts'
import type { Backup } from '../../api/backups.ts'
import { formatBytes, formatDateTime, formatPercent } from '../../app/formats.ts'

/** Bars that are shown, and how many it takes to be a trend. */
const maxBars = 12
const minBars = 2
const chart = { height: 32, barWidth: 8, gap: 2, minHeight: 2 }

/** Shows how the size of the last backups changed. `backups` are newest first. */
export function BackupTrend({ backups }: { backups: Backup[] }) {
  const { t } = useTranslation('backups')
  const shown = backups
    .filter((backup) => backup.is_successful)
    .slice(0, maxBars)
    .toReversed()
  if (shown.length < minBars) return null
  const sizes = shown.map(({ bytes }) => bytes)
  const range = { min: formatBytes(Math.min(...sizes)), max: formatBytes(Math.max(...sizes)) }
  return (
    <figure className="flex flex-wrap items-end gap-x-4 gap-y-2">
      <SizeBars backups={shown} label={`${t('trend')}. ${t('trend_text', range)}`} />
      <figcaption className="text-sm text-muted">
        <span className="block font-medium text-ink">{t('trend')}</span>
        {t('trend_text', range)} <Change sizes={sizes} />
      </figcaption>
    </figure>
  )
}

function SizeBars({ backups, label }: { backups: Backup[]; label: string }) {
  const max = Math.max(1, ...backups.map(({ bytes }) => bytes))
  const step = chart.barWidth + chart.gap
  const width = backups.length * step - chart.gap
  return (
    <svg
      role="img"
      aria-label={label}
      width={width}
      height={chart.height}
      viewBox={`0 0 ${width} ${chart.height}`}
      className="shrink-0 fill-brand rtl:-scale-x-100"
    >
      {backups.map((backup, position) => {
        const height = Math.max(chart.minHeight, (backup.bytes / max) * chart.height)
        return (
          <rect
            key={backup.uuid}
            x={position * step}
            y={chart.height - height}
            width={chart.barWidth}
            height={height}
            rx={1}
            className={position === backups.length - 1 ? '' : 'opacity-45'}
          >
            <title>{`${formatDateTime(backup.created_at)}: ${formatBytes(backup.bytes)}`}</title>
          </rect>
        )
      })}
    </svg>
  )
}

/** Says how the last size differs from the one before. */
function Change({ sizes }: { sizes: number[] }) {
  const { t } = useTranslation('backups')
  const [before = 0, last = 0] = sizes.slice(-2)
  const percent = before > 0 ? ((last - before) / before) * 100 : 0
  const digits = Math.abs(percent) < 10 ? 1 : 0
  if (Math.abs(percent) < 0.1) return <>{t('trend_same')}</>
  return (
    <>{t(percent > 0 ? 'trend_up' : 'trend_down', { percent: formatPercent(Math.abs(percent), digits) })}</>
  )
}
