import 'uplot/dist/uPlot.min.css'
import { useQuery } from '@tanstack/react-query'
import { ChartLine } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminListQuery } from '../../api/admin.ts'
import { useStoredChoice } from '../../app/use-stored-choice.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { EmptyState, Loaded } from '../../components/states.tsx'
import type { Period } from '../../server/usage/chart-options.ts'
import { UsageChart } from '../../server/usage/usage-chart.tsx'
import { type Timeline, timelineOf } from '../../server/usage/timeline.ts'
import { periodNames, periods, shownPeriods } from '../../server/usage/periods.ts'
import { scales } from '../../server/usage/scales.ts'
import type { Item, NodeStatistics, ServerStatistics } from '../resources.ts'

/** What nodes and servers have in common, and what only nodes have. */
type UsagePoint = Omit<NodeStatistics['points'][number], 'running_servers'> & { running_servers?: number }
type Statistics = Omit<NodeStatistics | ServerStatistics, 'points'> & { points: UsagePoint[] }

const refetchIntervalMs = 60_000

/** Charts of the stored usage of a node or a server, over a period that stays chosen. */
export function UsageOverTime({ path }: { path: string }) {
  const { t } = useTranslation('admin')
  const [period, setPeriod] = useStoredChoice('roost.usage_period', periodNames)
  const query = useQuery({
    ...adminListQuery<Item<Statistics>>(path, { period }),
    select: ({ attributes }) => attributes,
    refetchInterval: refetchIntervalMs,
  })
  return (
    <>
      <div role="group" aria-label={t('usage.period')} className="mb-4 flex flex-wrap gap-1">
        {shownPeriods.map((name) => (
          <Button
            key={name}
            aria-pressed={name === period}
            variant={name === period ? 'plain' : 'quiet'}
            onClick={() => setPeriod(name)}
          >
            {t(`usage.period_${name}`)}
          </Button>
        ))}
      </div>
      <Loaded query={query}>
        {(statistics) =>
          statistics.points.length === 0 ? (
            <EmptyState icon={ChartLine} title={t('usage.empty')} text={t('usage.empty_text')} />
          ) : (
            <Charts key={statistics.period} statistics={statistics} fetchedAt={query.dataUpdatedAt / 1000} />
          )
        }
      </Loaded>
    </>
  )
}

type CurveOf = readonly [name: string, colour: string, valueOf: (point: UsagePoint) => number | null]

function Charts({ statistics, fetchedAt }: { statistics: Statistics; fetchedAt: number }) {
  const { t } = useTranslation('admin')
  const timeline = timelineOf(statistics, fetchedAt)
  const shared = { timeline, period: periods[statistics.period] }
  const mean = t('usage.mean')
  const peak = t('usage.peak')
  const isOfNode = statistics.points.some((point) => point.running_servers !== undefined)
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      <Chart
        {...shared}
        title={t('strings:resource.cpu')}
        scale="percent"
        curves={[
          [peak, '--line-strong', (point) => point.max_cpu_absolute],
          [mean, '--brand', (point) => point.cpu_absolute],
        ]}
      />
      <Chart
        {...shared}
        title={t('strings:resource.memory')}
        scale="bytes"
        curves={[
          [peak, '--line-strong', (point) => point.max_memory_bytes],
          [mean, '--info', (point) => point.memory_bytes],
        ]}
      />
      <Chart
        {...shared}
        title={t('strings:resource.disk')}
        scale="bytes"
        curves={[[mean, '--info', (point) => point.disk_bytes]]}
      />
      <Chart
        {...shared}
        title={t('usage.network')}
        scale="rate"
        curves={[
          [t('strings:resource.network_in'), '--good', (point) => point.network_rx_bytes_per_second],
          [t('strings:resource.network_out'), '--warn', (point) => point.network_tx_bytes_per_second],
        ]}
      />
      {isOfNode && (
        <Chart
          {...shared}
          title={t('nodes.running')}
          scale="count"
          curves={[[mean, '--brand', (point) => point.running_servers ?? null]]}
        />
      )}
    </div>
  )
}

function Chart({
  title,
  scale,
  timeline: { times, points },
  period,
  curves,
}: {
  title: string
  scale: keyof typeof scales
  timeline: Timeline<UsagePoint>
  period: Period
  curves: readonly CurveOf[]
}) {
  const { t } = useTranslation('admin')
  return (
    <Card title={title}>
      <UsageChart
        {...scales[scale]}
        label={title}
        times={times}
        period={period}
        curves={curves.map(([name, colour, valueOf]) => ({
          name,
          colour,
          values: points.map((point) => point && valueOf(point)),
        }))}
        words={(name, now, most) =>
          now === null ? t('usage.unknown', { name }) : t('usage.words', { name, now, most })
        }
      />
    </Card>
  )
}
