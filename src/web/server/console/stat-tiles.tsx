import { Clock, Cpu, HardDrive, type LucideIcon, MemoryStick, Network, Server } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatBytes, formatDuration, formatMebibytes, formatPercent } from '../../app/formats.ts'
import { useLive, useServer } from '../server-context.tsx'
import { serverConflict } from '../server-state.ts'

type Tile = { name: string; icon: LucideIcon; label: string; value: string; limit?: string; ratio?: number }

/** Shows the current resource usage and the limits of the server. */
export function StatTiles() {
  return (
    <dl className="grid grid-cols-2 gap-2 sm:grid-cols-3 xl:grid-cols-2">
      {useTiles().map(({ name, icon: Icon, label, value, limit, ratio }) => (
        <div key={name} className="min-w-0 rounded-card border border-line bg-surface px-3 py-2.5">
          <dt className="flex items-center gap-1.5 text-xs text-muted">
            <Icon aria-hidden className="size-3.5 shrink-0" />
            <span className="truncate">{label}</span>
          </dt>
          <dd
            className={`mt-1 truncate text-sm font-semibold tabular-nums ${ratio !== undefined && ratio > 0.95 ? 'text-bad' : ''}`}
            title={limit ? `${value} ${limit}` : value}
          >
            {value}
            {limit && <span className="block truncate text-xs font-normal text-muted">{limit}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function useTiles(): Tile[] {
  const { t } = useTranslation('console')
  const { server } = useServer()
  const { stats, state } = useLive()
  const { cpu, memory, disk } = server.limits
  const isOn = stats !== null && state !== 'offline'
  const orDash = (text: string) => (isOn ? text : '–')
  const limit = (amount: number, text: string) => (amount > 0 ? t('limit', { limit: text }) : t('no_limit'))
  const mebibyte = 1024 ** 2
  return [
    {
      name: 'uptime',
      icon: Clock,
      label: t('strings:resource.uptime'),
      value: orDash(formatDuration(stats?.uptime ?? 0)),
      limit: t(`strings:state.${serverConflict(server) ?? state ?? 'connecting'}`),
    },
    {
      name: 'cpu',
      icon: Cpu,
      label: t('strings:resource.cpu'),
      value: orDash(formatPercent(stats?.cpu_absolute ?? 0, 1)),
      limit: limit(cpu, formatPercent(cpu)),
      ...(isOn && cpu > 0 ? { ratio: stats.cpu_absolute / cpu } : {}),
    },
    {
      name: 'memory',
      icon: MemoryStick,
      label: t('strings:resource.memory'),
      value: orDash(formatBytes(stats?.memory_bytes ?? 0)),
      limit: limit(memory, formatMebibytes(memory)),
      ...(isOn && memory > 0 ? { ratio: stats.memory_bytes / (memory * mebibyte) } : {}),
    },
    {
      name: 'disk',
      icon: HardDrive,
      label: t('strings:resource.disk'),
      value: stats ? formatBytes(stats.disk_bytes) : '–',
      limit: limit(disk, formatMebibytes(disk)),
      ...(stats && disk > 0 ? { ratio: stats.disk_bytes / (disk * mebibyte) } : {}),
    },
    {
      name: 'network',
      icon: Network,
      label: t('network'),
      value: orDash(t('network_in', { amount: formatBytes(stats?.network.rx_bytes ?? 0) })),
      limit: orDash(t('network_out', { amount: formatBytes(stats?.network.tx_bytes ?? 0) })),
    },
    {
      name: 'node',
      icon: Server,
      label: t('strings:word.node'),
      value: server.node,
      limit: t('identifier', { identifier: server.identifier }),
    },
  ]
}
