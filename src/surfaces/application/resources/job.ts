import * as z from 'zod'
import type { Job } from '../../../db/tables/jobs.ts'
import { resource, timestamp, Timestamp, timestampOrNull } from '../../../http/resource.ts'

/** A background job; `payload` holds ids and names only. */
export const JobResource = resource(
  'job',
  () =>
    z.object({
      id: z.uuid(),
      name: z.string(),
      state: z.enum(['waiting', 'done', 'dead']),
      is_running: z.boolean().describe('Whether a worker runs it; for a while also after that worker died'),
      payload: z.record(z.string(), z.unknown()),
      attempts: z.int(),
      run_at: Timestamp().describe(
        'When it is due; while it is running, when another worker may take it over',
      ),
      deadline_at: Timestamp().describe('When it is abandoned'),
      last_error: z.string().nullable(),
      finished_at: Timestamp().nullable(),
      created_at: Timestamp(),
    }),
  (row: Job) => ({
    id: row.id,
    name: row.name,
    state: row.state,
    is_running: row.state === 'waiting' && row.leasedUntil !== null,
    payload: row.payload,
    attempts: row.attempts,
    run_at: timestamp(row.runAt),
    deadline_at: timestamp(row.deadlineAt),
    last_error: row.lastError,
    finished_at: timestampOrNull(row.finishedAt),
    created_at: timestamp(row.createdAt),
  }),
)
