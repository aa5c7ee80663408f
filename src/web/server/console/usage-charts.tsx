import { type ComponentProps, useSyncExternalStore } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatBytes, formatPercent } from '../../app/formats.ts'
import { useServer } from '../server-context.tsx'
import { LiveChart } from './live-chart.tsx'

const rate = (amount: string) => `${amount}/s`
const bytesPerSecond = (value: number) => rate(formatBytes(value))

type Chart = Pick<ComponentProps<typeof LiveChart>, 'label' | 'curves' | 'scaleMax' | 'format'>

/** Charts of CPU, memory and network usage in the last minutes. */
export function UsageCharts() {
  const { t } = useTranslation('console')
  const { usage } = useServer()
  const times = useSyncExternalStore(usage.subscribe, usage.values).map(({ at }) => at)
  const words = (name: string, now: string | null, most: string) =>
    now === null ? t('chart.unknown', { name }) : t('chart.words', { name, now, most })
  return (
    <section aria-label={t('charts')} className="grid gap-2 md:grid-cols-3 xl:grid-cols-1">
      {useCharts().map((chart) => (
        <section
          key={chart.label}
          aria-label={chart.label}
          className="min-w-0 rounded-card border border-line bg-surface px-3 py-2.5"
        >
          <h2 className="mb-1 text-xs text-muted">{chart.label}</h2>
          <LiveChart {...chart} times={times} words={words} />
        </section>
      ))}
    </section>
  )
}

function useCharts(): Chart[] {
  const { t } = useTranslation('console')
  const { server, usage } = useServer()
  const values = useSyncExternalStore(usage.subscribe, usage.values)
  const { cpu, memory } = server.limits
  const curve = (name: string, colour: string, key: 'cpu' | 'memory' | 'received' | 'sent') => ({
    name: t(name),
    colour,
    values: values.map((each) => each[key]),
  })
  return [
    {
      label: t('strings:resource.cpu'),
      curves: [curve('strings:resource.cpu', '--brand', 'cpu')],
      scaleMax: cpu,
      format: formatPercent,
    },
    {
      label: t('strings:resource.memory'),
      curves: [curve('strings:resource.memory', '--info', 'memory')],
      scaleMax: memory * 1024 ** 2,
      format: formatBytes,
    },
    {
      label: t('network'),
      curves: [
        curve('strings:resource.network_in', '--good', 'received'),
        curve('strings:resource.network_out', '--warn', 'sent'),
      ],
      scaleMax: 1024,
      format: bytesPerSecond,
    },
  ]
}
