import { useTranslation } from '../app/use-translation.ts'
import { formatBytes, formatMebibytes, formatPercent, formatTime } from '../app/formats.ts'
import { isBlocked, serverConflict } from '../server/server-state.ts'
import type { ListedServer } from './listed-server.ts'

/** How much a server uses; `short` is shown, `text` says the limit too. */
export type UsageItem = {
  name: 'cpu' | 'memory' | 'disk'
  value: number
  /** Null without one. */
  limit: number | null
  short: string
  text: string
}

const mebibyte = 1024 ** 2

/** Returns the resource usage of a server with its limits. A limit of 0 means unlimited. */
export function usageOf({ server, stats }: ListedServer): UsageItem[] {
  const used = stats?.resources
  const item = (
    name: UsageItem['name'],
    value: number | undefined,
    limit: number,
    [format, formatLimit]: [(value: number) => string, (limit: number) => string],
  ): UsageItem => {
    const short = value === undefined ? '–' : format(value)
    const unit = name === 'cpu' ? 1 : mebibyte
    return {
      name,
      value: value ?? 0,
      limit: value !== undefined && limit > 0 ? limit * unit : null,
      short,
      text: value !== undefined && limit > 0 ? `${short} / ${formatLimit(limit)}` : short,
    }
  }
  const { cpu, memory, disk } = server.limits
  const percent: [typeof formatPercent, typeof formatPercent] = [formatPercent, formatPercent]
  const bytes: [typeof formatBytes, typeof formatMebibytes] = [formatBytes, formatMebibytes]
  return [
    item('cpu', used?.cpu_absolute, cpu, percent),
    item('memory', used?.memory_bytes, memory, bytes),
    item('disk', used?.disk_bytes, disk, bytes),
  ]
}

/** Returns why the resource usage is not available; null when it is. */
export function useUnavailableReason({ server, outage }: ListedServer): string | null {
  const { t } = useTranslation('home')
  if (isBlocked(server)) return t(`reason.${serverConflict(server) ?? 'suspended'}`)
  if (!outage) return null
  const time = formatTime(new Date(outage.since))
  return outage.isExact ? t('reason.silent_since', { time }) : t('reason.silent_noticed', { time })
}
