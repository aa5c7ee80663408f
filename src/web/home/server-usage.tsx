import { useTranslation } from 'react-i18next'
import { formatBytes, formatMebibytes, formatPercent } from '../app/formats.ts'
import { site } from '../app/site.ts'
import { Meter } from '../components/meter.tsx'
import { isBlocked, serverConflict } from '../server/server-state.ts'
import type { ListedServer } from './listed-server.ts'

type UsageItem = { name: 'cpu' | 'memory' | 'disk'; value: number; limit: number | null; text: string }

/** Returns the resource usage of a server with its limits. A limit of 0 means unlimited. */
export function usageOf({ server, stats }: ListedServer): UsageItem[] {
  const { cpu, memory, disk } = server.limits
  const used = stats?.resources
  const mebibyte = 1024 ** 2
  const ofLimit = (text: string | undefined, limit: string | null) =>
    text === undefined ? '–' : limit === null ? text : `${text} / ${limit}`
  return [
    {
      name: 'cpu',
      value: used?.cpu_absolute ?? 0,
      limit: used && cpu > 0 ? cpu : null,
      text: ofLimit(used && formatPercent(used.cpu_absolute), cpu > 0 ? formatPercent(cpu) : null),
    },
    {
      name: 'memory',
      value: used?.memory_bytes ?? 0,
      limit: used && memory > 0 ? memory * mebibyte : null,
      text: ofLimit(used && formatBytes(used.memory_bytes), memory > 0 ? formatMebibytes(memory) : null),
    },
    {
      name: 'disk',
      value: used?.disk_bytes ?? 0,
      limit: used && disk > 0 ? disk * mebibyte : null,
      text: ofLimit(used && formatBytes(used.disk_bytes), disk > 0 ? formatMebibytes(disk) : null),
    },
  ]
}

/** Shows meters of the resource usage, or why it is not available, in the same height. */
export function ServerUsage({ listed }: { listed: ListedServer }) {
  const { t } = useTranslation('home')
  const reason = useUnavailableReason(listed)
  return (
    <div className="flex min-h-27 flex-col justify-center gap-2.5">
      {reason === null ? (
        usageOf(listed).map(({ name, value, limit, text }) => (
          <Meter key={name} label={t(`strings:resource.${name}`)} value={value} limit={limit} text={text} />
        ))
      ) : (
        <p className="text-sm text-muted">{reason}</p>
      )}
    </div>
  )
}

/** Returns why the resource usage is not available; null when it is. */
export function useUnavailableReason({ server, outage }: ListedServer): string | null {
  const { t } = useTranslation('home')
  if (isBlocked(server)) return t(`reason.${serverConflict(server) ?? 'suspended'}`)
  if (!outage) return null
  const time = new Intl.DateTimeFormat(site.locale, { timeStyle: 'short' }).format(outage.since)
  return outage.isExact ? t('reason.silent_since', { time }) : t('reason.silent_noticed', { time })
}
