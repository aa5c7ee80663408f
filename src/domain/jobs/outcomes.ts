import { causeOf, log } from '../../log.ts'
import type { Panel } from '../../panel.ts'

type JobLabels = { id: string; name: string; isKnown: boolean }

/** Returns the label of metrics; unknown names share one, so that the number of labels is bounded. */
const jobLabel = ({ name, isKnown }: JobLabels) => (isKnown ? name : 'other')

/** Records the duration of a run in the metrics; `startMs` is from `performance.now()`. */
export const observeJobDuration = (panel: Panel, job: JobLabels, startMs: number): void =>
  panel.metrics.observe('roost_job_duration_seconds', (performance.now() - startMs) / 1000, {
    job: jobLabel(job),
  })

/** Counts a run of a job in the metrics and logs a failed one, as an error when it is not retried. */
export function recordJobOutcome(
  panel: Panel,
  job: JobLabels,
  outcome: 'done' | 'postponed' | 'dead',
  error?: unknown,
): void {
  const { id, name } = job
  panel.metrics.count('roost_jobs_total', { job: jobLabel(job), outcome })
  if (outcome === 'done') return
  const fields = {
    request: panel.requestId,
    job: id,
    name,
    ...(error === undefined ? {} : { cause: causeOf(error) }),
  }
  if (outcome === 'dead') log('error', 'A job failed until its deadline and is dead.', fields)
  else log('info', 'A job failed and will be tried again.', fields)
}
