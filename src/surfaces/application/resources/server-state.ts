import * as z from 'zod'
import type { ServerState } from '../../../db/tables/server-states.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'

const states = ['offline', 'starting', 'running', 'stopping'] as const

/** The state of a server's process at the last check of its node. */
export const ServerStateResource = resource(
  'server_state',
  () => z.object({ server_id: z.int(), state: z.enum(states), since: Timestamp() }),
  (row: ServerState) => ({ server_id: row.id, state: row.state, since: timestamp(row.since) }),
)
