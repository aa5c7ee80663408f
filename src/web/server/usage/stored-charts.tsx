import 'uplot/dist/uPlot.min.css'
import { type ReactNode, useMemo, useSyncExternalStore } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import type { ServerUsage, UsagePoint } from '../../api/usage.ts'
import { Card } from '../../components/card.tsx'
import type { UsageSample } from '../console/usage-history.ts'
import { useServer } from '../server-context.tsx'
import { marksOf } from './change-marks.ts'
import type { Mark } from './chart-drawing.ts'
import { periods } from './periods.ts'
import { scales } from './scales.ts'
import { type Timeline, timelineOf, withLive } from './timeline.ts'
import { UsageChart } from './usage-chart.tsx'

type Props = { usage: ServerUsage; fetchedAt: number; children: ReactNode }
type CurveOf = readonly [name: string, colour: string, valueOf: (point: UsagePoint) => number | null]
type Shared = { usage: ServerUsage; timeline: Timeline<UsagePoint>; marks: Mark[] }

/** Charts of the stored usage of a server, with the children behind them; the last hour goes on with what its daemon reports. */
export default function StoredCharts({ usage, fetchedAt, children }: Props) {
  const { t } = useTranslation('usage')
  const { limits } = useServer().server
  const timeline = useTimeline(usage, fetchedAt)
  const marks = useMemo(() => marksOf(usage.changes), [usage])
  const shared = { usage, timeline, marks }
  const [mean, peak] = [t('mean'), t('peak')]
  const mebibyte = 1024 ** 2
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      <Chart
        {...shared}
        title={t('strings:resource.cpu')}
        scale="percent"
        limit={limits.cpu}
        curves={[
          [peak, '--line-strong', (point) => point.max_cpu_absolute],
          [mean, '--brand', (point) => point.cpu_absolute],
        ]}
      />
      <Chart
        {...shared}
        title={t('strings:resource.memory')}
        scale="bytes"
        limit={limits.memory * mebibyte}
        curves={[
          [peak, '--line-strong', (point) => point.max_memory_bytes],
          [mean, '--info', (point) => point.memory_bytes],
        ]}
      />
      <Chart
        {...shared}
        title={t('strings:resource.disk')}
        scale="bytes"
        limit={limits.disk * mebibyte}
        curves={[[mean, '--info', (point) => point.disk_bytes]]}
      />
      <Chart
        {...shared}
        title={t('network')}
        scale="rate"
        curves={[
          [t('strings:resource.network_in'), '--good', (point) => point.network_rx_bytes_per_second],
          [t('strings:resource.network_out'), '--warn', (point) => point.network_tx_bytes_per_second],
        ]}
      />
      <Players {...shared} fetchedAt={fetchedAt} />
      {children}
    </div>
  )
}

/** The players online; shown where a game in the period has said how many they are. */
function Players({ usage, marks, fetchedAt }: Shared & { fetchedAt: number }) {
  const { t } = useTranslation('usage')
  const timeline = useMemo(() => timelineOf(usage, fetchedAt), [usage, fetchedAt])
  if (usage.points.every(({ players }) => players === null)) return null
  return (
    <Chart
      usage={usage}
      marks={marks}
      timeline={timeline}
      title={t('players')}
      scale="count"
      curves={[
        [t('peak'), '--line-strong', (point) => point.max_players],
        [t('mean'), '--brand', (point) => point.players],
      ]}
    />
  )
}

function Chart({
  usage,
  timeline: { times, points },
  marks,
  title,
  scale,
  limit = 0,
  curves,
}: Shared & {
  title: string
  scale: keyof typeof scales
  /** 0 is none. */
  limit?: number
  curves: readonly CurveOf[]
}) {
  const { t } = useTranslation('usage')
  return (
    <Card title={title}>
      <UsageChart
        {...scales[scale]}
        label={title}
        times={times}
        period={periods[usage.period]}
        curves={curves.map(([name, colour, valueOf]) => ({
          name,
          colour,
          values: points.map((point) => point && valueOf(point)),
        }))}
        words={(name, now, most) => (now === null ? t('unknown', { name }) : t('words', { name, now, most }))}
        limit={limit > 0 ? { name: t('limit'), value: limit } : undefined}
        marks={marks}
        syncKey="usage"
      />
    </Card>
  )
}

const noSamples: readonly UsageSample[] = []
const none = () => noSamples
const never = () => () => undefined
/** Seconds between two points of the live connection. */
const liveStepSeconds = 10

/** The stored points; in the shortest period with those of the live connection behind them. */
function useTimeline(usage: ServerUsage, fetchedAt: number): Timeline<UsagePoint> {
  const history = useServer().usage
  const isLive = usage.period === '1h'
  const samples = useSyncExternalStore(isLive ? history.subscribe : never, isLive ? history.values : none)
  return useMemo(
    () => withLive(timelineOf(usage, fetchedAt), livePoints(samples)),
    [usage, fetchedAt, samples],
  )
}

/** Keeps one sample of each step, and every break. */
function livePoints(samples: readonly UsageSample[]): { at: number; point: UsagePoint | null }[] {
  const stepOf = ({ at }: UsageSample) => Math.floor(at / liveStepSeconds)
  return samples
    .filter((sample, index) => {
      const before = samples[index - 1]
      return !before || sample.cpu === null || stepOf(before) !== stepOf(sample)
    })
    .map((sample) => ({ at: sample.at, point: sample.cpu === null ? null : livePoint(sample) }))
}

const rounded = (value: number | null) => (value === null ? null : Math.round(value))

const livePoint = ({ at, cpu, memory, disk, received, sent }: UsageSample): UsagePoint => ({
  at: new Date(at * 1000).toISOString(),
  cpu_absolute: cpu ?? 0,
  max_cpu_absolute: cpu ?? 0,
  memory_bytes: memory ?? 0,
  max_memory_bytes: memory ?? 0,
  disk_bytes: disk ?? 0,
  network_rx_bytes_per_second: rounded(received),
  network_tx_bytes_per_second: rounded(sent),
  running: 1,
  players: null,
  max_players: null,
})
