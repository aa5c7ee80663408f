import { maintainActivity } from './activity-partitions.ts'
import { configureNode } from './node-configuration.ts'
import { revokeDaemonAccess } from './revocations.ts'
import { createServerOnNode, deleteServerFromNode, syncServer } from './servers/node-jobs.ts'
import type { JobHandlers } from './jobs.ts'

/** What each kind of job does. */
export const jobHandlers: JobHandlers = {
  'create-server-on-node': createServerOnNode,
  'delete-server-from-node': deleteServerFromNode,
  'sync-server': syncServer,
  'configure-node': configureNode,
  'revoke-daemon-access': revokeDaemonAccess,
  'maintain-activity': maintainActivity,
}
