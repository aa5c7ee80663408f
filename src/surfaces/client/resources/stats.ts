import * as z from 'zod'
import type { BatchStats } from '../../../domain/servers/batch-stats.ts'
import type { ServerStats } from '../../../domain/servers/stats.ts'
import { resource } from '../../../http/resource.ts'

const Attributes = () =>
  z.object({
    current_state: z.string(),
    is_suspended: z.boolean(),
    resources: z.object({
      memory_bytes: z.number(),
      cpu_absolute: z.number(),
      disk_bytes: z.number(),
      network_rx_bytes: z.number(),
      network_tx_bytes: z.number(),
      uptime: z.number(),
    }),
  })

/** The state and resource use of a server. Bytes, percent of one core, milliseconds. */
export const StatsResource = resource('stats', Attributes, (stats: ServerStats) => ({
  current_state: stats.state,
  is_suspended: stats.isSuspended,
  resources: {
    memory_bytes: stats.memoryBytes,
    cpu_absolute: stats.cpuAbsolute,
    disk_bytes: stats.diskBytes,
    network_rx_bytes: stats.networkRxBytes,
    network_tx_bytes: stats.networkTxBytes,
    uptime: stats.uptime,
  },
}))

/** The state and resource use of one of several servers. */
const NamedStatsResource = resource(
  'stats',
  () => Attributes().extend({ server: z.uuid() }),
  ({ uuid, stats }: BatchStats['known'][number]) => ({ server: uuid, ...StatsResource.attributes(stats) }),
)

/** Stats of several servers, with the UUIDs of those whose stats are unknown. */
export const StatsBatch = () =>
  z.object({
    object: z.literal('list'),
    data: z.array(NamedStatsResource.One()),
    meta: z.object({ unavailable: z.array(z.uuid()) }),
  })

/** Presents the stats of several servers. */
export const presentBatchStats = ({ known, unavailable }: BatchStats) => ({
  ...NamedStatsResource.list(known),
  meta: { unavailable },
})
