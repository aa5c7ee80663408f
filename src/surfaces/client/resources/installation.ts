import * as z from 'zod'
import type { Installation } from '../../../domain/servers/installation-state.ts'
import { resource, Timestamp, timestampOrNull } from '../../../http/resource.ts'

/** The installation of a server: since when it runs, and the end of its log. */
export const InstallationResource = resource(
  'installation',
  () => z.object({ started_at: Timestamp().nullable(), log: z.string().nullable() }),
  ({ startedAt, log }: Installation) => ({ started_at: timestampOrNull(startedAt), log }),
)
