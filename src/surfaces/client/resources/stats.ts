import * as z from 'zod'
import type { ServerStats } from '../../../domain/stats.ts'
import { resource } from '../../../http/resource.ts'

/** State and use of a server. Bytes, percent of one core, milliseconds. */
export const StatsResource = resource(
  'stats',
  () =>
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
    }),
  (stats: ServerStats) => ({
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
  }),
)
