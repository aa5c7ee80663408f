import * as z from 'zod'
import type { Job } from '../../db/tables/jobs.ts'
import { discardJob, listJobs, retryJob } from '../../domain/jobs/manage.ts'
import { ApiError } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { OperationError } from '../faults.ts'

/** The input of `job:list`. */
export const JobListInput = () =>
  z.object({
    state: z.enum(['waiting', 'done', 'dead']).nullish(),
    name: z.string().nullish(),
    page: z.int().min(1, 'min').nullish(),
  })
/** The input of `job:retry` and `job:discard`. */
export const JobIdInput = () => z.object({ job: z.uuid('uuid') })
type JobIdInput = z.output<ReturnType<typeof JobIdInput>>

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

/** Lists one page of jobs: waiting ones in the order of their next run, then the others, the most recent first. */
export async function listNamedJobs(
  panel: Panel,
  { state, name, page }: z.output<ReturnType<typeof JobListInput>>,
): Promise<ListedJobs> {
  const filters = { ...(state ? { state: [state] } : {}), ...(name ? { name: [name] } : {}) }
  const found = await listJobs(panel, { page: page ?? 1, perPage, filters, sorts: [] })
  return { jobs: found.rows.map(present), total: found.total, page: found.page }
}

/** Makes a job due at once. Refuses as `API: postApplicationJobsByJobRetry`. */
export const retryNamedJob = async (panel: Panel, { job }: JobIdInput): Promise<ListedJob> =>
  present(await retryJob(panel, job).catch(explainNotFound(job)))

/** Deletes a job. Refuses as `API: deleteApplicationJobsByJob`. */
export async function discardNamedJob(panel: Panel, { job }: JobIdInput): Promise<{ discarded: string }> {
  await discardJob(panel, job).catch(explainNotFound(job))
  return { discarded: job }
}

/** Returns a handler for `.catch` that names the job in the error of a missing one. */
const explainNotFound = (job: string) => (error: unknown) => {
  throw error instanceof ApiError && error.status === 404
    ? new OperationError(`There is no job ${job}.`)
    : error
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
