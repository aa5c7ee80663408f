import { useTranslation } from 'react-i18next'
import { formatBytes, formatMebibytes, formatPercent } from '../app/formats.ts'
import { site } from '../app/site.ts'
import { Meter } from '../components/meter.tsx'
import { isBlocked, obstacleOf } from '../server/server-state.ts'
import type { ShownServer } from './shown-server.ts'

type Use = { name: 'cpu' | 'memory' | 'disk'; value: number; limit: number | null; text: string }

/** What a server uses, and of how much. A limit of 0 stands for none. */
export function usageOf({ server, stats }: ShownServer): Use[] {
  const { cpu, memory, disk } = server.limits
  const used = stats?.resources
  const mebibyte = 1024 ** 2
  const within = (text: string | undefined, limit: string | null) =>
    text === undefined ? '–' : limit === null ? text : `${text} / ${limit}`
  return [
    {
      name: 'cpu',
      value: used?.cpu_absolute ?? 0,
      limit: used && cpu > 0 ? cpu : null,
      text: within(used && formatPercent(used.cpu_absolute), cpu > 0 ? formatPercent(cpu) : null),
    },
    {
      name: 'memory',
      value: used?.memory_bytes ?? 0,
      limit: used && memory > 0 ? memory * mebibyte : null,
      text: within(used && formatBytes(used.memory_bytes), memory > 0 ? formatMebibytes(memory) : null),
    },
    {
      name: 'disk',
      value: used?.disk_bytes ?? 0,
      limit: used && disk > 0 ? disk * mebibyte : null,
      text: within(used && formatBytes(used.disk_bytes), disk > 0 ? formatMebibytes(disk) : null),
    },
  ]
}

/** Bars of what a server uses, or why nothing is known of it; as high either way. */
export function ServerUse({ shown }: { shown: ShownServer }) {
  const { t } = useTranslation('home')
  const reason = useReason(shown)
  return (
    <div className="flex min-h-27 flex-col justify-center gap-2.5">
      {reason === null ? (
        usageOf(shown).map(({ name, value, limit, text }) => (
          <Meter key={name} label={t(`strings:resource.${name}`)} value={value} limit={limit} text={text} />
        ))
      ) : (
        <p className="text-sm text-muted">{reason}</p>
      )}
    </div>
  )
}

/** Why nothing is known of what a server uses; null while it is. */
export function useReason({ server, silence }: ShownServer): string | null {
  const { t } = useTranslation('home')
  if (isBlocked(server)) return t(`reason.${obstacleOf(server) ?? 'suspended'}`)
  if (!silence) return null
  const time = new Intl.DateTimeFormat(site.locale, { timeStyle: 'short' }).format(silence.since)
  return silence.isExact ? t('reason.silent_since', { time }) : t('reason.silent_noticed', { time })
}
