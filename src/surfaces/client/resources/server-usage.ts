import * as z from 'zod'
import { processChanges, type ServerUsage } from '../../../domain/heartbeats/server-usage.ts'
import { type Period, periods, type ServerPoint } from '../../../domain/heartbeats/statistics.ts'
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
    running: z.number().min(0).max(1).describe('Share of the time in which the process ran'),
    players: z.number().nullable().describe('Mean; null where the game was not asked'),
    max_players: z.int().nullable().describe('The most that were online'),
  })

const at = (seconds: number) => timestamp(new Date(seconds * 1000))

const pointOf = (point: ServerPoint): z.output<ReturnType<typeof Point>> => ({
  at: at(point.at),
  cpu_absolute: point.cpu,
  max_cpu_absolute: point.maxCpu,
  memory_bytes: point.memoryBytes,
  max_memory_bytes: point.maxMemoryBytes,
  disk_bytes: point.diskBytes,
  network_rx_bytes_per_second: point.rxRate,
  network_tx_bytes_per_second: point.txRate,
  running: point.running,
  players: point.players,
  max_players: point.maxPlayers,
})

/** The stored usage of a server, and what happened to its process. */
export const ServerUsageResource = resource(
  'server_statistics',
  () =>
    z.object({
      period: z.enum(Object.keys(periods) as [Period, ...Period[]]),
      step_seconds: z.int(),
      points: z.array(Point()).describe('Steps without a sample are left out'),
      changes: z.array(
        z.object({
          at: Timestamp(),
          change: z.enum(processChanges).describe('crash: nothing asked for the end of the process'),
        }),
      ),
    }),
  ({ period, points, changes }: ServerUsage & { period: Period }) => ({
    period,
    step_seconds: periods[period].step,
    points: points.map(pointOf),
    changes: changes.map(({ at: seconds, change }) => ({ at: at(seconds), change })),
  }),
)
