import * as z from 'zod'
import {
  type NodePoint,
  type Period,
  periods,
  type ServerPoint,
  type Statistics,
  type UsagePoint,
} from '../../../domain/heartbeats/statistics.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'

const Point = () =>
  z.object({
    at: Timestamp(),
    cpu_absolute: z.number().describe('Mean, percent of one core'),
    max_cpu_absolute: z.number(),
    memory_bytes: z.int().describe('Mean'),
    max_memory_bytes: z.int(),
    disk_bytes: z.int().describe('Mean'),
    network_rx_bytes_per_second: z.int().nullable().describe('Null where two samples do not tell'),
    network_tx_bytes_per_second: z.int().nullable(),
  })

const pointOf = (point: UsagePoint) => ({
  at: timestamp(new Date(point.at * 1000)),
  cpu_absolute: point.cpu,
  max_cpu_absolute: point.maxCpu,
  memory_bytes: point.memoryBytes,
  max_memory_bytes: point.maxMemoryBytes,
  disk_bytes: point.diskBytes,
  network_rx_bytes_per_second: point.rxRate,
  network_tx_bytes_per_second: point.txRate,
})

const statisticsSchema = <Schema extends z.ZodType>(point: Schema) =>
  z.object({
    period: z.enum(Object.keys(periods) as [Period, ...Period[]]),
    step_seconds: z.int(),
    points: z.array(point).describe('Steps without a sample are left out'),
  })

/** The stored usage of a node: the sum over its servers. */
export const NodeStatisticsResource = resource(
  'node_statistics',
  () => statisticsSchema(Point().extend({ running_servers: z.number().describe('Mean') })),
  ({ period, points }: Statistics<NodePoint>) => ({
    period,
    step_seconds: periods[period].step,
    points: points.map((point) => ({ ...pointOf(point), running_servers: point.runningServers })),
  }),
)

/** The stored usage of a server. */
export const ServerStatisticsResource = resource(
  'server_statistics',
  () =>
    statisticsSchema(
      Point().extend({
        running: z.number().min(0).max(1).describe('Share of the time in which the process ran'),
        starts: z.int().describe('How often the process was started'),
      }),
    ),
  ({ period, points }: Statistics<ServerPoint>) => ({
    period,
    step_seconds: periods[period].step,
    points: points.map((point) => ({ ...pointOf(point), running: point.running, starts: point.starts })),
  }),
)
