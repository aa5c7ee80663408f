import { causeOf, log } from '../log.ts'
import type { Panel } from '../panel.ts'

type CountedJob = { id: string; name: string; isKnown: boolean }

/** Unknown names would be labels without number. */
const labelOf = ({ name, isKnown }: CountedJob) => (isKnown ? name : 'other')

/** The time of a run that began then counts, in milliseconds of `performance.now()`. */
export const timeJob = (panel: Panel, job: CountedJob, began: number): void =>
  panel.metrics.observe('roost_job_duration_seconds', (performance.now() - began) / 1000, {
    job: labelOf(job),
  })

/** A run of a job is counted; one that failed is logged, as an error when nobody tries it again. */
export function countJob(
  panel: Panel,
  job: CountedJob,
  outcome: 'done' | 'postponed' | 'dead',
  error?: unknown,
): void {
  const { id, name } = job
  panel.metrics.count('roost_jobs_total', { job: labelOf(job), outcome })
  if (outcome === 'done') return
  const fields = {
    request: panel.requestId,
    job: id,
    name,
    ...(error === undefined ? {} : { cause: causeOf(error) }),
  }
  if (outcome === 'dead') log('error', 'A job was given up.', fields)
  else log('info', 'A job failed and will be tried again.', fields)
}
