import type { JobHandlers } from './jobs.ts'

/** What each kind of job does. */
export const jobHandlers: JobHandlers = {
  'create-server-on-node': async () => undefined,
  'delete-server-from-node': async () => undefined,
  'sync-server': async () => undefined,
  'configure-node': async () => undefined,
  'maintain-activity': async () => undefined,
}
