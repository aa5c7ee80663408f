import { causeOf, log } from '../log.ts'
import type { Panel } from '../panel.ts'

/** A run of a job is counted; one that failed is logged, as an error when nobody tries it again. */
export function countJob(
  panel: Panel,
  job: { id: string; name: string; isKnown: boolean },
  outcome: 'done' | 'postponed' | 'dead',
  error?: unknown,
): void {
  const { id, name } = job
  panel.metrics.count('roost_jobs_total', { job: job.isKnown ? name : 'other', outcome })
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
