import * as z from 'zod'
import type { Job } from '../../db/tables/jobs.ts'
import { discardJob, listJobs, retryJob } from '../../domain/dead-letters.ts'
import { ApiError } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { VerbError } from '../faults.ts'

/** What `job:list` is given. */
export const JobListing = () =>
  z.object({
    state: z.enum(['waiting', 'done', 'dead']).nullish(),
    name: z.string().nullish(),
    page: z.int().min(1, 'min').nullish(),
  })
/** What `job:retry` and `job:discard` are given. */
export const JobNaming = () => z.object({ job: z.uuid('uuid') })
type JobNaming = z.output<ReturnType<typeof JobNaming>>

export type ListedJob = {
  id: string
  name: string
  state: Job['state']
  payload: Record<string, unknown>
  attempts: number
  run_at: string
  finished_at: string | null
  last_error: string | null
}
export type ListedJobs = { jobs: ListedJob[]; total: number; page: number }

const perPage = 50

/** One page of jobs: those that wait, the next to run first, then the others, the last to end first. */
export async function showJobs(
  panel: Panel,
  { state, name, page }: z.output<ReturnType<typeof JobListing>>,
): Promise<ListedJobs> {
  const filters = { ...(state ? { state: [state] } : {}), ...(name ? { name: [name] } : {}) }
  const found = await listJobs(panel, { page: page ?? 1, perPage, filters, sorts: [] })
  return { jobs: found.rows.map(present), total: found.total, page: found.page }
}

/** The job is due again at once. Refuses as the Application API does. */
export const retryNamedJob = async (panel: Panel, { job }: JobNaming): Promise<ListedJob> =>
  present(await retryJob(panel, job).catch(byName(job)))

/** The job is gone. Refuses as the Application API does. */
export async function discardNamedJob(panel: Panel, { job }: JobNaming): Promise<{ discarded: string }> {
  await discardJob(panel, job).catch(byName(job))
  return { discarded: job }
}

/** Says of which job there is none. */
const byName = (job: string) => (error: unknown) => {
  throw error instanceof ApiError && error.status === 404 ? new VerbError(`There is no job ${job}.`) : error
}

const present = ({ id, name, state, payload, attempts, runAt, finishedAt, lastError }: Job): ListedJob => ({
  id,
  name,
  state,
  payload,
  attempts,
  run_at: runAt.toISOString(),
  finished_at: finishedAt?.toISOString() ?? null,
  last_error: lastError,
})
