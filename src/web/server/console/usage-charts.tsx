import 'uplot/dist/uPlot.min.css'
import { useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { formatBytes, formatPercent } from '../../app/formats.ts'
import { Card } from '../../components/card.tsx'
import { useServer } from '../server-context.tsx'
import { UsageChart } from './usage-chart.tsx'

/** Powers of two, as steps of a scale in bytes. */
const byteSteps = Array.from({ length: 50 }, (_, power) => 2 ** power)

const rate = (amount: string) => `${amount}/s`

/** Charts of CPU, memory and network usage in the last minutes. */
export default function UsageCharts() {
  const { t } = useTranslation('console')
  const { server, usage } = useServer()
  const values = useSyncExternalStore(usage.subscribe, usage.values)
  const { cpu, memory } = server.limits
  const times = values.map(({ at }) => at)
  const words = (name: string, now: string | null, most: string) =>
    now === null ? t('chart.unknown', { name }) : t('chart.words', { name, now, most })
  const bytesPerSecond = (value: number) => rate(formatBytes(value))
  return (
    <section aria-label={t('charts')} className="grid gap-3 md:grid-cols-3">
      <Card title={t('strings:resource.cpu')}>
        <UsageChart
          label={t('strings:resource.cpu')}
          times={times}
          curves={[
            { name: t('strings:resource.cpu'), colour: '--brand', values: values.map((each) => each.cpu) },
          ]}
          scaleMax={cpu}
          words={words}
          format={formatPercent}
        />
      </Card>
      <Card title={t('strings:resource.memory')}>
        <UsageChart
          label={t('strings:resource.memory')}
          times={times}
          curves={[
            {
              name: t('strings:resource.memory'),
              colour: '--info',
              values: values.map((each) => each.memory),
            },
          ]}
          scaleMax={memory * 1024 ** 2}
          steps={byteSteps}
          words={words}
          format={formatBytes}
        />
      </Card>
      <Card title={t('network')}>
        <UsageChart
          label={t('network')}
          times={times}
          curves={[
            {
              name: t('strings:resource.network_in'),
              colour: '--good',
              values: values.map((each) => each.received),
            },
            {
              name: t('strings:resource.network_out'),
              colour: '--warn',
              values: values.map((each) => each.sent),
            },
          ]}
          scaleMax={1024}
          steps={byteSteps}
          words={words}
          format={bytesPerSecond}
        />
      </Card>
    </section>
  )
}
