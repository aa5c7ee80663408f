import * as z from 'zod'
import type { ConflictSince } from '../../../domain/servers/conflict-since.ts'
import { resource, Timestamp, timestampOrNull } from '../../../http/resource.ts'

/** What keeps a server from being acted on, since when, and since when its node has not answered. */
export const ServerConflictResource = resource(
  'server_conflict',
  () =>
    z.object({
      conflict: z.enum(['suspended', 'maintenance', 'installing', 'restoring', 'transferring']).nullable(),
      since: Timestamp().nullable(),
      node_down_since: Timestamp().nullable(),
    }),
  ({ conflict, since, nodeDownSince }: ConflictSince) => ({
    conflict,
    since: timestampOrNull(since),
    node_down_since: timestampOrNull(nodeDownSince),
  }),
)
