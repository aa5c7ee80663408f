import type { Panel } from '../panel.ts'
import { jobHandlers } from './job-handlers.ts'
import { enqueue, sweepJobs } from './jobs.ts'

/** Once a minute: keeps the recurring jobs alive and runs what nobody was woken for. Returns how many jobs ran. */
export async function tick(panel: Panel): Promise<number> {
  await enqueue(panel, 'maintain-activity', {}, { key: 'maintain-activity' })
  return sweepJobs(panel, jobHandlers)
}
