import * as z from 'zod'
import type { FoundNotes } from '../../../domain/servers/notes.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'

/** What administrators note about a server. Spec: docs/servers.md#notes. */
export const ServerNotesResource = resource(
  'server_notes',
  () =>
    z.object({
      server_id: z.int(),
      notes: z.string().describe('Empty without notes'),
      updated_at: Timestamp().nullable(),
    }),
  ({ serverId, notes, updatedAt }: FoundNotes) => ({
    server_id: serverId,
    notes,
    updated_at: updatedAt && timestamp(updatedAt),
  }),
)
